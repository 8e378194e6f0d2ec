/** The rules of commands, worded for a model that has not broken one yet. */
import { autorunGlobs } from "../filesystem/jail/autorun.ts";
import type { ShellConfig } from "./config.ts";
import type { Network } from "./os-sandbox/ruleset.ts";
import type { ShellProfile } from "./profiles.ts";

/** The rules that the kernel enforces on commands. */
export interface ConfinedRules {
  readonly network: Network;
  /** Whether files are hidden from them; otherwise only the other rules apply. */
  readonly holdsFiles: boolean;
  /** Whether files that other programs run by themselves are protected from changes. */
  readonly keepsFiles: boolean;
}

/** The roots by their names. */
export interface RootNames {
  readonly writable: readonly string[];
  readonly readOnly: readonly string[];
}

export interface CommandRules {
  readonly config: Pick<
    ShellConfig,
    | "allowlist"
    | "default_timeout_ms"
    | "max_timeout_ms"
    | "max_output_bytes"
    | "max_concurrent_jobs"
    | "max_job_secs"
    | "snapshot"
    | "writable_folders"
  >;
  readonly profile: ShellProfile;
  /** `undefined` if the kernel confines nothing. */
  readonly confined: ConfinedRules | undefined;
  /** `undefined` if one folder is served. */
  readonly roots: RootNames | undefined;
  /** Patterns of command lines that are refused. */
  readonly denylist: readonly string[];
  /** The hidden paths and globs, as callers name them. */
  readonly hidden: readonly string[];
  /** The globs of files that may be read but not changed. */
  readonly kept: readonly string[];
}

/** Maximum numbers of names that a line lists before it counts the rest. */
const maxPrograms = 40;
const maxHidden = 8;
const maxPatterns = 5;

/** Describes the rules for commands in at most eight lines. */
export function describeCommands({
  config,
  profile,
  confined,
  roots,
  denylist,
  hidden,
  kept,
}: CommandRules): string[] {
  const { allowlist, default_timeout_ms, max_timeout_ms, max_output_bytes, writable_folders } = config;
  const programs = listNames(allowlist, maxPrograms);
  const output = Math.min(profile["exec.max_output_bytes"] ?? max_output_bytes, max_output_bytes);
  const isKept = confined?.holdsFiles === true;
  const undo =
    config.snapshot.length === 0
      ? " Undo does not take back what they change."
      : ` Undo takes back what they change in ${listNames(config.snapshot, maxHidden)}.`;
  return [
    allowlist.length === 0
      ? "Every program may run but those in a folder that calls can write."
      : `Programs that may run: ${programs}. Programs that these start are not limited to the list.`,
    isKept
      ? `Commands write below ${writtenFolders(roots, writable_folders)}, and read everything that is not hidden. HOME is a private folder of theirs.${describeReadOnly(roots)}${describeKept(kept, confined.keepsFiles)}${undo}`
      : `The kernel does not keep files from commands: they read and write whatever the user can, inside and outside of ${roots === undefined ? "the served folder" : "the roots"}.${undo}`,
    ...(isKept && hidden.length > 0
      ? [
          `Hidden from commands, which do not find their content: ${listNames(hidden, maxHidden)}. Git takes a tracked one for unchanged, and shows what was committed of it.${confined.keepsFiles ? " One that another program creates or replaces while a command runs is not hidden from it: the answer names it." : ""}`,
        ]
      : []),
    networkLines[confined?.network ?? "full"],
    ...(confined === undefined
      ? []
      : [
          "Other processes are not signalled or traced, and sockets of other programs (Docker, ssh-agent) not reached. What a command leaves running ends with it; shell::exec_bg is for what stays.",
        ]),
    `A command runs for ${seconds(default_timeout_ms)} unless it has timeout_ms, at most ${seconds(max_timeout_ms)}; in the background ${describeJobTime(config)}, at most ${config.max_concurrent_jobs} at once. An output of up to ${Math.floor(output / 1024)} KiB is answered whole${describeCut(profile["exec.cut_output_bytes"], output)}.`,
    ...(denylist.length === 0
      ? []
      : [
          `Refused are command lines that match ${listNames(
            denylist.map((pattern) => `/${pattern}/`),
            maxPatterns,
          )}.`,
        ]),
  ];
}

/** Returns the folders that commands write, as part of a sentence. */
export function writtenFolders(roots: RootNames | undefined, others: readonly string[] = []): string {
  const served = roots?.writable.length === 1 ? "the root" : "the roots";
  const folders = [
    ...(roots === undefined ? ["the served folder"] : []),
    ...(roots && roots.writable.length > 0 ? [`${served} ${listNames(roots.writable, maxHidden)}`] : []),
    ...(others.length > 0 ? [listNames(others, maxHidden)] : []),
  ].join(", ");
  return folders === "" ? "$TMPDIR" : `${folders} and $TMPDIR`;
}

/** Returns a sentence on the read-only roots, if any, or with "," the end of one. */
export function describeReadOnly(roots: RootNames | undefined, before: "" | "," = ""): string {
  if (roots === undefined || roots.readOnly.length === 0) return "";
  const [subject, verb] = roots.readOnly.length === 1 ? ["root", "is"] : ["roots", "are"];
  const rule = `${subject} ${listNames(roots.readOnly, maxHidden)} ${verb} read-only for them`;
  return before === "," ? `, and the ${rule}` : ` The ${rule}.`;
}

/** Describes, as the end of a sentence, the part of a longer output that an answer has. */
function describeCut(cut: number | undefined, output: number): string {
  const half = Math.floor(Math.min(cut ?? output, output) / 2048);
  return `, and of a longer one the first and the last ${half} KiB`;
}

/** Returns the rule for files that may not be changed, as a further sentence. */
function describeKept(globs: readonly string[], isKept: boolean): string {
  if (globs.length === 0) return "";
  const isUsual = globs === autorunGlobs;
  if (!isKept)
    return ` Nothing keeps them from files ${isUsual ? "that other programs run by themselves (.git/hooks, .vscode and the like)" : `that calls may not change (${listNames(globs, maxHidden)})`}: leave those alone unless the user asks.`;
  return isUsual
    ? " Files that other programs run by themselves (.git/hooks, .git/config, .vscode/tasks.json, .npmrc and the like) are read-only for them if they exist, so git config and git remote add fail. Make none: the answer would name it."
    : ` Read-only for them, where it exists: ${listNames(globs, maxHidden)}. Make nothing new that matches: the answer would name it.`;
}

const networkLines: Readonly<Record<Network, string>> = {
  none: "Commands have no network: they neither listen nor connect, on loopback either.",
  loopback:
    "Commands listen and connect on 127.0.0.1 and ::1 only, where those of this server reach one another: start a server with shell::exec_bg and ask it with shell::exec. No other host, and no program outside, is reached or reaches them.",
  full: "Commands may use the network.",
};

function listNames(names: readonly string[], most: number): string {
  const more = names.length - most;
  return [...names.slice(0, most), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

const describeJobTime = ({ max_job_secs: most }: CommandRules["config"]): string =>
  most === 0 ? "without a limit" : `at most ${seconds(1000 * most)}`;

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
