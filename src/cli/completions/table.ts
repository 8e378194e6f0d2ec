import type { WorkerName } from "../../base/about.ts";
import type { FlagName } from "../../config/arguments/flags.ts";

/** The words that can stand after a command. */
export type Arguments = Readonly<Record<string, readonly string[]>>;

/** A flag, as shells complete it. */
export interface CompletedFlag {
  readonly name: FlagName;
  /** The placeholder of the value, or undefined for a switch. */
  readonly value: string | undefined;
  readonly choices: readonly string[];
  /** The first line of the help. */
  readonly summary: string;
}

/** The program, its commands, and the flags of each. */
export interface CommandLineTable {
  readonly program: WorkerName;
  readonly commands: readonly string[];
  readonly arguments: Arguments;
  readonly flagsOf: (command: string) => readonly CompletedFlag[];
}
