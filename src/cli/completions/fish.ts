import type { CommandLineTable, CompletedFlag } from "./table.ts";

/** Renders the script for fish. */
export function renderFish({ program, commands, arguments: words, flagsOf }: CommandLineTable): string {
  const seen = (command: string) => `__fish_seen_subcommand_from ${command}`;
  const lines = [
    `# Completions of ${program} for fish: ${program} completions fish | source`,
    `complete -c ${program} -f`,
    `complete -c ${program} -n __fish_use_subcommand -a ${quote(commands.join(" "))}`,
    ...Object.entries(words).map(
      ([command, list]) => `complete -c ${program} -n ${quote(seen(command))} -a ${quote(list.join(" "))}`,
    ),
    ...flagsOf("").map((flag) => renderFlag(program, "__fish_use_subcommand", flag)),
    ...commands.flatMap((command) =>
      flagsOf(command).map((flag) => renderFlag(program, quote(seen(command)), flag)),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

function renderFlag(
  program: string,
  condition: string,
  { name, value, choices, summary }: CompletedFlag,
): string {
  const values =
    value === undefined
      ? ""
      : choices.length > 0
        ? ` -x -a ${quote(choices.join(" "))}`
        : value === "FILE"
          ? " -r -F"
          : value === "DIR"
            ? " -x -a '(__fish_complete_directories)'"
            : " -x";
  return `complete -c ${program} -n ${condition} -l ${name}${values} -d ${quote(summary)}`;
}

/** Quotes a word for fish, where a backslash escapes a quote inside of quotes. */
const quote = (text: string): string => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
