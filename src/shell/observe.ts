/**
 * Observes commands: their changes, how much of them can be undone, and the rules of the sandbox that they
 * seem to have met.
 */
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Refusal } from "../base/errors.ts";
import { createTimeSlice, runInSlices } from "../base/scheduling/time-slice.ts";
import type { Requester } from "../filesystem/disk/mutation.ts";
import type { CallCause } from "../filesystem/feed/change.ts";
import type { ChangeSummary, CommandChanges } from "../filesystem/feed/command-changes.ts";
import { FilesSnapshot, type Overflow, type SnapshotOutcome } from "../filesystem/journal/snapshot.ts";
import { GlobError } from "../text/globs/glob-set.ts";
import { type BegunCommand, nothingUnguarded } from "./confinement.ts";
import type { ShellContext } from "./define.ts";
import { withoutNames } from "./hidden-names.ts";
import { type CommandFeed, leftNote, type ObservedServices } from "./observed.ts";
import { PlainRefusal, refusePlainly } from "./programs/plain-refusal.ts";
import type { Program } from "./programs/program.ts";
import type { Remarks } from "./programs/records.ts";
import { readCommandLine } from "./programs/words.ts";
import { renderChanges } from "./render-changes.ts";
import { hiddenBehindLinks, hiddenInArguments, sandboxNotes } from "./sandbox-notes.ts";
import { noteSyntax } from "./shell-syntax.ts";
import { compileSnapshotGlobs, type SnapshotGlobs } from "./snapshot-globs.ts";
import { nameExposed, noteMade, noteReadable } from "./unguarded-notes.ts";

/** A command that is about to run. */
export interface Observed {
  /** Call it when the command has ended, even if it never started. */
  end(output?: {
    readonly stdout: string;
    readonly stderr: string;
    /** Whether it left processes running. */
    readonly hasLeft?: boolean;
  }): Promise<Remarks>;
}

/**
 * Maximum milliseconds that a command waits for the tree to be watched. Changes before that are not reported.
 */
const patienceMs = 1000;

interface Observing {
  readonly program: Program;
  /** The line that its words were read from, if `args` was not sent. */
  readonly line: string | undefined;
  /** Finds what the sandbox could not guard, like that of `BegunCommand`. */
  readonly findUnguarded: BegunCommand["findUnguarded"];
  /** The host path of the folder that it starts in, if that is served. */
  readonly at: string | undefined;
  /** Globs of the files to hold. Default: those of the configuration. */
  readonly snapshot: readonly string[] | undefined;
}

/**
 * Begins to observe a command, and holds the files that it may change. In the profile `contract`, there are
 * no remarks unless the call has `snapshot`. Throws a plain refusal for malformed globs, and in the profile
 * `agent` if nothing can be held for a call with `snapshot`.
 */
export async function observe(
  context: ShellContext,
  { program, line, findUnguarded, at, snapshot: globs }: Observing,
): Promise<Observed> {
  const { functionId, author, config, profile, feed } = context;
  const name = basename(program.argv[0]);
  const requester: Requester = { ...context, label: name };
  const isRequired = globs !== undefined && profile["exec.requires_snapshot"];
  const holding = await holdFiles({ globs: globs ?? config.snapshot, isRequired }, context);
  const isRemarked = profile.command_remarks || globs !== undefined;
  if (!isRemarked && holding === undefined) return unobserved;
  const cause: CallCause = {
    by: "call",
    function_id: functionId,
    ...(author !== undefined && { author }),
    program: name,
  };
  const command = profile.command_remarks ? await beginIn(feed, cause) : undefined;
  const announceEnd = feed?.announceCommand(cause);
  return {
    async end(output) {
      announceEnd?.();
      const outcome = await holding?.record(requester);
      const found = command && (await feed?.endCommand(command).catch(() => undefined));
      const remarks = { ...changesOf(found), ...(holding && (await undoOf(outcome, command))) };
      if (!profile.command_remarks) return isRemarked ? remarks : {};
      const hasChanged = found === undefined || found.hasDenied || remarks.changed !== undefined;
      const { made, readable } = hasChanged
        ? await findUnguarded().catch(() => nothingUnguarded)
        : nothingUnguarded;
      const operated = line === undefined ? undefined : readCommandLine(line).operated;
      const exposed = await runInSlices(nameExposed(readable, context.namesOf), createTimeSlice());
      const notes = [
        ...new Set([
          ...noteSyntax({ argv: program.argv, operated, stderr: output?.stderr }, config.allowlist),
          ...noteReadable(exposed.entries),
          ...(await sandboxNotesOf(context, { argv: program.argv, at, exposed: exposed.names }, output)),
          ...noteMade(context.namesOf(made).toSorted(), context.keptBy),
          ...(output?.hasLeft ? [leftNote] : []),
        ]),
      ];
      return { ...remarks, ...(notes.length > 0 && { notes }) };
    },
  };
}

/** Begins a command in the feed, unless watching the tree takes too long. */
async function beginIn(feed: CommandFeed | undefined, cause: CallCause): Promise<CommandChanges | undefined> {
  const beginning = feed?.beginCommand(cause).catch(() => undefined);
  const command = await Promise.race([beginning, sleep(patienceMs, "late" as const)]);
  if (command !== "late") return command;
  void beginning?.then((late) => {
    if (late !== undefined) void feed?.endCommand(late);
  });
  return undefined;
}

interface Holding {
  record(requester: Requester): Promise<SnapshotOutcome>;
}

interface Selected {
  readonly globs: readonly string[];
  /** Whether the command must not run if nothing can be held. */
  readonly isRequired: boolean;
}

/** Holds the files that the globs select; `undefined` if they select none. */
async function holdFiles(
  { globs, isRequired }: Selected,
  { fs: { jail, journal }, deadline, caller, log }: ShellContext,
): Promise<Holding | undefined> {
  const compiled = compiling(globs);
  if (compiled === undefined) return undefined;
  if (journal === undefined) {
    if (isRequired) throw refusePlainly.badPayload("snapshot", noJournal);
    return failed("the journal is off, so nothing was held");
  }
  try {
    const snapshot = await FilesSnapshot.take({ selection: compiled, jail, journal }, { deadline, caller });
    const { overflow } = snapshot;
    if (isRequired && overflow) throw refusePlainly.badPayload("snapshot", overfull(overflow));
    return {
      async record(requester) {
        try {
          const outcome = await snapshot.record(requester);
          const misses = compiled.misspelt.map((one) => ({ path: "", reason: sayMisspelt(one) }));
          return { ...outcome, lost: [...outcome.lost, ...misses] };
        } catch (error) {
          log.warn("the changes of a command were not recorded", { reason: String(error) });
          return failed("the journal could not be written").record(requester);
        }
      },
    };
  } catch (error) {
    if (error instanceof Refusal || error instanceof PlainRefusal) throw error;
    log.warn("no files are held for a command", { reason: String(error) });
    if (isRequired) throw refusePlainly.badPayload("snapshot", notHeld);
    return failed("the files could not be held");
  }
}

const failed = (reason: string): Holding => ({
  record: async () => ({
    checkpoint: undefined,
    recorded: new Set(),
    lost: [{ path: "", reason }],
    hasHeld: false,
  }),
});

const noJournal =
  "needs a journal, and this worker keeps none, so nothing that the command changes could be undone. Nothing was run. Leave the field out to run the command without an undo, or let the user set `journal` in the configuration";

const overfull = ({ limit }: Overflow) =>
  `selects more than ${limit} files, so none of them could be undone. Nothing was run. Send globs that select fewer files`;

const notHeld =
  "cannot be held: the folder of the journal takes no copies now. Nothing was run. Try again, leave the field out to run the command without an undo, or tell the user";

function sayMisspelt({ glob, instead }: SnapshotGlobs["misspelt"][number]): string {
  const why = instead === `${glob}/` ? "names a folder" : "separates names by backslashes";
  return `"${glob}" of snapshot ${why}: send "${instead}"`;
}

/** Maximum globs of a call, in any profile: shell 0.3.5 has no such field. */
const maxGlobs = 1000;

function compiling(globs: readonly string[]): ReturnType<typeof compileSnapshotGlobs> {
  if (globs.length > maxGlobs)
    throw refusePlainly.badPayload(
      "snapshot",
      `has ${globs.length} globs, and may have ${maxGlobs}; send fewer`,
    );
  try {
    return compileSnapshotGlobs(globs);
  } catch (error) {
    if (error instanceof GlobError)
      throw refusePlainly.badPayload("snapshot", `is not usable: ${error.message}`);
    throw error;
  }
}

function changesOf(found: ChangeSummary | undefined): Pick<Remarks, "changed"> {
  const changed = found && renderChanges(found);
  return changed === undefined ? {} : { changed };
}

/** Maximum number of changes that are named as lost. */
const maxLost = 5;

/** Reports which of a command's changes can be undone, and which cannot. */
async function undoOf(
  outcome: SnapshotOutcome | undefined,
  command: CommandChanges | undefined,
): Promise<Pick<Remarks, "checkpoint" | "not_held">> {
  const { checkpoint, recorded = new Set<string>(), lost = [], hasHeld = true } = outcome ?? {};
  const named = new Set([...recorded, ...lost.map(({ path }) => path)]);
  // Without held files, those that the globs select are unknown.
  const others = command && hasHeld ? await runInSlices(command.filesBeside(named), createTimeSlice()) : 0;
  const more = lost.length - maxLost;
  const lines = [
    ...lost.slice(0, maxLost).map(({ path, reason }) => (path === "" ? reason : `${path} (${reason})`)),
    ...(more > 0 ? [`${more} more`] : []),
    ...(others > 0 ? [`${others} ${others === 1 ? "file" : "files"} outside of snapshot`] : []),
  ];
  return {
    ...(checkpoint !== undefined && { checkpoint }),
    ...(lines.length > 0 && { not_held: lines }),
  };
}

interface EndedCommand {
  readonly argv: readonly string[];
  readonly at: string | undefined;
  /** The names of denied entries that it could read. */
  readonly exposed: ReadonlySet<string>;
}

async function sandboxNotesOf(
  {
    confined,
    written,
    hiddenNames,
    keptNames,
    keptBy,
    removalOf,
    nestedRoots,
    nameIn,
    linkedTo,
  }: ObservedServices,
  { argv, at, exposed }: EndedCommand,
  output: Parameters<Observed["end"]>[0],
): Promise<string[]> {
  if (!confined || !output) return [];
  const hidden = withoutNames(await hiddenNames(), exposed);
  const nameOf = (path: string) => nameIn(at, path);
  const guarded = { written, hidden, kept: keptNames(), keptBy, removalOf, nestedRoots, nameOf };
  const slice = createTimeSlice();
  const notes = await runInSlices(sandboxNotes(output, confined, guarded), slice);
  if (!confined.holdsFiles) return notes;
  const named = [
    ...(await runInSlices(hiddenInArguments(argv, hidden, nameOf), slice)),
    ...(await runInSlices(
      hiddenBehindLinks(argv, hidden, (path) => linkedTo(nameOf(path))),
      slice,
    )),
  ];
  return [...notes, ...named.filter((note) => !notes.some((longer) => longer.startsWith(note)))];
}

/** The remarks about a command without any. */
export const unobserved: Observed = { end: async () => ({}) };
