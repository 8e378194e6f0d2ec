/** The policy of a sandbox for commands, and what it does. */
import type { ControlGroup } from "./control-groups.ts";
import type { ResourceLimit } from "./launcher.ts";
import type { FilePolicy, Network } from "./ruleset.ts";

/**
 * What confines a command. "files": it writes only where the policy allows, and reads nothing denied.
 * "truncation": nor empties a file that it may only read. "network", "signals": it reaches nothing, and no
 * process but its own. "system calls": it cannot change the machine. "sessions": nothing outlives it.
 * "limits": of its processes.
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
   * The limits of each process of a command; called for each command. `isApart` says whether commands have a
   * user namespace, where the kernel counts no processes but theirs.
   */
  limits(isApart: boolean): readonly ResourceLimit[];
  /** Most processes and threads of a command, where a control group holds them; 0 is no limit. */
  readonly processes: number;
  /** A folder for what is mounted over denied files. Commands cannot write it. */
  readonly maskFolder: string;
}

/** A program, by its file and its argument vector. */
export interface Executable {
  readonly file: string;
  readonly argv: readonly [string, ...string[]];
}

/** What to run instead of a program. Dispose of it when that has been started. */
export interface ConfinedLaunch extends Executable, Disposable {
  /** What becomes its descriptor 3. Then 4 is where it reports a failure, as `buildLauncher` says. */
  readonly descriptor?: number;
  /** What become its descriptors 5, 6 and so on. */
  readonly inherited?: readonly number[];
  /** What holds its processes. Its starter removes it when they are gone. */
  readonly group?: ControlGroup;
}

export interface OsSandbox {
  /** The guarantees that hold for commands. */
  readonly holds: readonly Guarantee[];
  /** What this system does not have. */
  readonly lacks: readonly Guarantee[];
  /** The network that commands have: without means for "loopback", that is "none". */
  readonly network: Network;
  /**
   * Whether mounts hide what is denied in writable folders: where only Landlock does, nothing can be made
   * beside it.
   */
  readonly hasMounts: boolean;
  /** Whether it holds what may be read and not changed in writable folders. */
  readonly keepsFiles: boolean;
  /** Whether /proc shows commands no processes but their own. */
  readonly hidesProcesses: boolean;
  /** Whether a control group holds the processes of each command. */
  readonly hasGroups: boolean;
  /** Prepares to run a program. Throws when the system has no more descriptors or control groups. */
  launch(program: Executable): ConfinedLaunch;
  /** The paths of what mounts have hidden from the last command. */
  hidden(): readonly string[];
  /** The paths of what mounts kept the last command from changing. */
  kept(): readonly string[];
  close(): void;
}
