/** What is said of a command beside its output: what it changed, and which rules of the sandbox it seems to have met. */
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallContext } from "../calls/contract/definition.ts";
import type { Cause } from "../filesystem/feed/change.ts";
import {
  type ChangeSummary,
  type CommandChanges,
  renderChanges,
} from "../filesystem/feed/command-changes.ts";
import type { ConfinedRules } from "./command-rules.ts";
import type { Program } from "./programs/program.ts";
import type { Remarks } from "./programs/records.ts";
import { sandboxNotes } from "./sandbox-notes.ts";

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

/** A command that is about to run. */
export interface Observed {
  /** To be called when it has ended, also if it never started. */
  end(output?: { readonly stdout: string; readonly stderr: string }): Promise<Remarks>;
}

/** Milliseconds that a command waits for the tree to be watched: until it is, nothing is said of changes. */
const patienceMs = 1000;

type CommandCause = Extract<Cause, { by: "call" }>;

/** Returns the cause of what a program of a call changes. */
export const causeOf = (
  { functionId, author }: Pick<CallContext, "functionId" | "author">,
  { argv }: Pick<Program, "argv">,
): CommandCause => ({
  by: "call",
  function_id: functionId,
  ...(author !== undefined && { author }),
  program: basename(argv[0]),
});

/** Begins to observe a command, whose changes have this cause. `findMade` is that of `BegunCommand`. */
export async function observe(
  { feed, confined, hiddenNames, keptNames, namesOf }: ObservedServices,
  cause: CommandCause,
  findMade: () => Promise<readonly string[]>,
): Promise<Observed> {
  const beginning = feed?.beginCommand(cause).catch(() => undefined);
  const command = await Promise.race([beginning, sleep(patienceMs, "late" as const)]);
  if (command === "late")
    void beginning?.then((late) => {
      if (late !== undefined) void feed?.endCommand(late);
    });
  return {
    async end(output) {
      const isKnown = typeof command === "object";
      const summary = isKnown ? await feed?.endCommand(command).catch(() => undefined) : undefined;
      const changed = summary && renderChanges(summary);
      // A command that has changed nothing has made nothing.
      const hasChanged = summary === undefined || changed !== undefined;
      const made = hasChanged ? namesOf(await findMade().catch(() => [])).toSorted() : [];
      const notes = [
        ...(confined && output
          ? sandboxNotes(output, confined, { hidden: hiddenNames(), kept: keptNames() })
          : []),
        ...noteMade(made),
      ];
      return { ...(changed !== undefined && { changed }), ...(notes.length > 0 && { notes }) };
    },
  };
}

/** Maximum number of made files that are named. */
const maxNamed = 5;

/** Notes the made files and folders that commands cannot change: the sandbox could not prevent that. */
function noteMade(names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length - maxNamed;
  const listed = names.slice(0, maxNamed).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return [`made ${listed}, which other programs act on by themselves: tell the user`];
}

/** For a command of which nothing is said. */
export const unobserved: Observed = { end: async () => ({}) };

/** Remarks as lines. */
export const renderRemarks = ({ changed, notes = [] }: Remarks): string[] => [
  ...notes.map((note) => `[sandbox: ${note}]`),
  ...(changed === undefined ? [] : [`[changed: ${changed}]`]),
];
