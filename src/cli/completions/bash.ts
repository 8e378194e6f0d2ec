import type { CommandLineTable } from "./table.ts";

/** Renders the script for bash 3.2 and newer. If it offers nothing, bash completes file names. */
export function renderBash({ program, commands, arguments: words, flagsOf }: CommandLineTable): string {
  const all = [...new Map(["", ...commands].flatMap(flagsOf).map((flag) => [flag.name, flag])).values()];
  const withChoices = all.filter(({ choices }) => choices.length > 0);
  const withValue = all.filter(({ value, choices }) => value !== undefined && choices.length === 0);
  const flagList = (command: string) =>
    flagsOf(command)
      .map(({ name }) => `--${name}`)
      .join(" ");
  return `# Completions of ${program} for bash: eval "$(${program} completions bash)"
_${program}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command= words= word
  COMPREPLY=()
  case $previous in
${withChoices.map(({ name, choices }) => `    --${name}) COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current")); return ;;\n`).join("")}    ${withValue.map(({ name }) => `--${name}`).join(" | ")}) return ;;
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case $word in ${commands.join(" | ")}) command=$word; break ;; esac
  done
  if [[ $current == -* ]]; then
    case $command in
${commands.map((command) => `      ${command}) words="${flagList(command)}" ;;\n`).join("")}      *) words="${flagList("")}" ;;
    esac
  elif [[ -z $command ]]; then
    words="${commands.join(" ")}"
  elif [[ $previous == "$command" ]]; then
    case $command in
${Object.entries(words)
  .map(([command, list]) => `      ${command}) words="${list.join(" ")}" ;;\n`)
  .join("")}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${program} ${program}
`;
}
