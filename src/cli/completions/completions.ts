/** `coder completions SHELL`: the scripts that complete the command line in a shell. */
import { type WorkerName, workerNames } from "../../base/about.ts";
import { logLevels } from "../../base/log/log.ts";
import { commandWords, type Shell } from "../../config/arguments/arguments.ts";
import { type FlagName, flagNames, flags } from "../../config/arguments/flags.ts";
import { isRefusedIn } from "../../config/arguments/help.ts";
import type { Mode } from "../../config/source.ts";
import type { Arguments, CommandLineTable, CompletedFlag } from "./table.ts";

/** The values that can be listed. */
const choices: Partial<Readonly<Record<FlagName, readonly string[]>>> = {
  approval: ["none", "destructive", "all"],
  completions: ["bash", "zsh", "fish"],
  engine: ["embedded"],
  "log-level": logLevels,
  tools: ["all"],
  worker: workerNames,
};

const modes: readonly string[] = ["mcp", "call", "setup", "review"] satisfies readonly Mode[];

/** Returns the mode that decides about the flags of a command; undo and checkpoints are calls. */
function modeOf(command: string): Mode {
  if (modes.includes(command)) return command as Mode;
  return command === "undo" || command === "checkpoints" ? "call" : "serve";
}

function completedFlag(name: FlagName, program: WorkerName): CompletedFlag {
  const { value, help } = flags[name];
  const basePathKey = program === "coder" ? "base_path" : "fs.host_root";
  const [summary = ""] = (typeof help === "string" ? help : help({ basePathKey })).split("\n");
  return { name, value, choices: choices[name] ?? [], summary };
}

const tableOf = (program: WorkerName, words: Arguments): CommandLineTable => ({
  program,
  commands: commandWords[program],
  arguments: words,
  flagsOf: (command) =>
    flagNames
      .filter((name) => !isRefusedIn(name, modeOf(command)))
      .map((name) => completedFlag(name, program)),
});

const renderers: Readonly<Record<Shell, () => Promise<(table: CommandLineTable) => string>>> = {
  bash: async () => (await import("./bash.ts")).renderBash,
  zsh: async () => (await import("./zsh.ts")).renderZsh,
  fish: async () => (await import("./fish.ts")).renderFish,
};

/** Renders the script for a shell. `words` are the arguments of commands, such as names of functions. */
export async function renderCompletions(
  shell: Shell,
  program: WorkerName,
  words: Arguments,
): Promise<string> {
  return (await renderers[shell]())(tableOf(program, words));
}
