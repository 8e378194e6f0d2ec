import type { CommandLineTable, CompletedFlag } from "./table.ts";

/** Renders the script for zsh, a function in the form of its completion system. */
export function renderZsh({ program, commands, arguments: words, flagsOf }: CommandLineTable): string {
  const rows = (command: string) => {
    const positions =
      command === ""
        ? [`'1:command:(${commands.join(" ")})'`]
        : [
            `'1:command:(${command})'`,
            ...(words[command] ? [`'2:argument:(${words[command].join(" ")})'`] : []),
          ];
    return [...flagsOf(command).map(renderFlag), ...positions, "'*:file:_files'"]
      .map((row) => `      ${row}`)
      .join(" \\\n");
  };
  return `#compdef ${program}
# Completions of ${program} for zsh: eval "$(${program} completions zsh)", or this file as _${program} in a folder of $fpath
_${program}() {
  local command= word
  for word in \${words[2,CURRENT-1]}; do
    case $word in (${commands.join("|")}) command=$word; break ;; esac
  done
  case $command in
${commands.map((command) => `    (${command}) _arguments \\\n${rows(command)} ;;\n`).join("")}    (*) _arguments \\
${rows("")} ;;
  esac
}
if [[ $funcstack[1] == _${program} ]]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
}

function renderFlag({ name, value, choices, summary }: CompletedFlag): string {
  const text = summary.replaceAll(/[[\]:\\]/g, "\\$&").replaceAll("'", "'\\''");
  if (value === undefined) return `'--${name}[${text}]'`;
  const action =
    choices.length > 0
      ? `(${choices.join(" ")})`
      : value === "FILE"
        ? "_files"
        : value === "DIR"
          ? "_files -/"
          : " ";
  return `'--${name}[${text}]:value:${action}'`;
}
