/** The policy of a sandbox for commands, and what it does. */
import type { ControlGroup } from "./control-groups.ts";
import type { ResourceLimit } from "./launcher.ts";
import type { FilePolicy, MaskedEntries, Network } from "./ruleset.ts";

/**
 * A guarantee about a command. "files": it writes only where the policy allows, and reads no denied file.
 * "truncation": it empties no file that it may only read. "network", "signals": it reaches no network, and no
 * process but its own. "system calls": it cannot change the machine. "sessions": none of its processes
 * outlives it. "limits": its processes are limited.
 */
export type Guarantee =
  | "files"
  | "truncation"
  | "network"
  | "signals"
  | "system calls"
  | "sessions"
  | "limits";

export interface SandboxPolicy extends FilePolicy {
  /**
   * Returns the limits of each process of a command. `isApart` says whether commands have a user namespace,
   * in which the kernel counts only their processes.
   */
  limits(isApart: boolean): readonly ResourceLimit[] | Promise<readonly ResourceLimit[]>;
  /** Maximum processes and threads of a command, if a control group contains them; 0 means no limit. */
  readonly processes: number;
  /** The folder for files that are mounted over denied ones. Commands cannot write it. */
  readonly maskFolder: string;
}

/** A program, by its file and its argument vector. */
export interface Executable {
  readonly file: string;
  readonly argv: readonly [string, ...string[]];
}

/** The program to run instead of the command. Dispose of it after the start. */
export interface ConfinedLaunch extends Executable, Disposable {
  /**
   * The descriptor that becomes its descriptor 3. It then reports a failure on 4, as `buildLauncher` says.
   */
  readonly descriptor?: number;
  /** The descriptors that become its descriptors 5, 6 and so on. */
  readonly inherited?: readonly number[];
  /** The control group of its processes. The starter removes it after they have ended. */
  readonly group?: ControlGroup;
  /** The entries that mounts hide from it, if any can. */
  readonly masked?: MaskedEntries | undefined;
}

export interface OsSandbox {
  /** The guarantees that hold for commands. */
  readonly holds: readonly Guarantee[];
  /** The guarantees that this system does not support. */
  readonly lacks: readonly Guarantee[];
  /** The network of commands. If the system does not support "loopback", it is "none". */
  readonly network: Network;
  /**
   * Whether mounts hide denied entries in writable folders. With Landlock alone, no entries can be made
   * beside them.
   */
  readonly hasMounts: boolean;
  /** Whether it protects the files in writable folders that may be read but not changed. */
  readonly keepsFiles: boolean;
  /** Whether /proc shows commands only their own processes. */
  readonly hidesProcesses: boolean;
  /** Whether each command has a control group. */
  readonly hasGroups: boolean;
  /** Prepares a program to be run at once. Rejects if descriptors or control groups run out. */
  launch(program: Executable): Promise<ConfinedLaunch>;
  /** Returns the paths that were hidden from the last command. */
  hidden(): readonly string[];
  /** Returns the paths that mounts kept the last command from changing. */
  kept(): readonly string[];
  close(): void;
}
