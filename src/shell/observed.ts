/** The remarks about a command beside its output. */
import type { Steps } from "../base/scheduling/time-slice.ts";
import type { Wording } from "../calls/contract/wording.ts";
import type { CallCause } from "../filesystem/feed/change.ts";
import type { ChangeSummary, CommandChanges } from "../filesystem/feed/command-changes.ts";
import type { ConfinedRules } from "./command-rules.ts";
import type { HiddenNames } from "./hidden-names.ts";
import type { Remarks } from "./programs/records.ts";
import type { FolderRemoval, KeptBy } from "./sandbox-notes.ts";
import { syntaxNote } from "./shell-syntax.ts";

/** The part of a feed that is for commands. */
export interface CommandFeed {
  announceCommand(cause: CallCause): () => void;
  beginCommand(cause: CallCause): Promise<CommandChanges | undefined>;
  endCommand(command: CommandChanges): Promise<ChangeSummary>;
}

export interface ObservedServices {
  /** `undefined` if no feed is kept. */
  readonly feed: CommandFeed | undefined;
  /** `undefined` if the kernel confines nothing. */
  readonly confined: ConfinedRules | undefined;
  /** The folders that they write, as part of a sentence. */
  readonly written: string;
  /** Returns the names of the files that are hidden from commands. Calls share the index. */
  readonly hiddenNames: () => Promise<HiddenNames>;
  /** Names of the files and folders that they cannot change. */
  readonly keptNames: () => readonly string[];
  /** Returns the rule that keeps commands from changing a path of `keptNames`, or from making one like it. */
  readonly keptBy: (kept: string) => KeptBy;
  /** Returns the call that removes a folder around a path of `keptNames`, if one does. */
  readonly removalOf: (kept: string) => Steps<FolderRemoval | undefined>;
  /** The read-only roots in writable ones, by their paths in those. */
  readonly nestedRoots: readonly string[];
  /** Returns the name of a path in the folder at a host path. Without that, the path is its name. */
  readonly nameIn: (folder: string | undefined, path: string) => string;
  /** Returns the names that the links in a path lead to, given by its name: none if no link is in it. */
  readonly linkedTo: (name: string) => readonly string[];
  /** Returns host paths as callers name them, without those outside the served folders. */
  readonly namesOf: (hostPaths: readonly string[]) => readonly string[];
}

/** The note on processes that a command left running. It is not about a rule of the sandbox. */
export const leftNote =
  "ended with the command: processes that it left running; shell::exec_bg is for those that stay";

/** Renders remarks as lines, one for each. */
export const renderRemarks = (
  { changed, checkpoint, not_held: lost = [], notes = [] }: Remarks,
  { sentence }: Pick<Wording, "sentence">,
): string[] => [
  ...notes.map((note) => {
    const isOfSandbox = note !== leftNote && !note.startsWith(syntaxNote);
    return `[${isOfSandbox ? "sandbox: " : ""}${sentence(note)}]`;
  }),
  ...(changed === undefined ? [] : [`[changed while it ran: ${changed}]`]),
  ...(checkpoint === undefined ? [] : [`[checkpoint: #${checkpoint}, which undo takes back]`]),
  ...(lost.length === 0 ? [] : [`[not undoable: ${lost.join(", ")}]`]),
];
