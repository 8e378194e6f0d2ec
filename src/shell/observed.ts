/** The remarks about a command beside its output. */
import type { Cause } from "../filesystem/feed/change.ts";
import type { ChangeSummary, CommandChanges } from "../filesystem/feed/command-changes.ts";
import type { ConfinedRules } from "./command-rules.ts";
import type { Remarks } from "./programs/records.ts";

/** The part of a feed that is for commands. */
export interface CommandFeed {
  beginCommand(cause: Cause): Promise<CommandChanges | undefined>;
  endCommand(command: CommandChanges): Promise<ChangeSummary>;
}

export interface ObservedServices {
  /** `undefined` where no feed is kept. */
  readonly feed: CommandFeed | undefined;
  /** `undefined` where the kernel confines nothing. */
  readonly confined: ConfinedRules | undefined;
  /** Names of the files that are hidden from commands. */
  readonly hiddenNames: () => readonly string[];
  /** Names of the files and folders that they cannot change. */
  readonly keptNames: () => readonly string[];
  /** Returns host paths as callers name them, without those outside of the served folders. */
  readonly namesOf: (hostPaths: readonly string[]) => readonly string[];
}

/** Remarks as lines. */
export const renderRemarks = ({
  changed,
  checkpoint,
  not_held: lost = [],
  notes = [],
}: Remarks): string[] => [
  ...notes.map((note) => `[sandbox: ${note}]`),
  ...(changed === undefined ? [] : [`[changed: ${changed}]`]),
  ...(checkpoint === undefined ? [] : [`[checkpoint: #${checkpoint}, which undo takes back]`]),
  ...(lost.length === 0 ? [] : [`[not undoable: ${lost.join(", ")}]`]),
];
