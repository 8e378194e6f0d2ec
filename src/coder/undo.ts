import { type Static, Type } from "@sinclair/typebox";
import { type Author, authorId, isSameAuthor, isWithoutSession, renderAuthor } from "../base/author.ts";
import { Refusal } from "../base/errors.ts";
import { Named, UInt32, UInt64 } from "../base/schema/fragments.ts";
import type { Plan } from "../filesystem/disk/steps.ts";
import { unservedRoots } from "../filesystem/jail/roots.ts";
import { LaterRecords } from "../filesystem/journal/later-records.ts";
import {
  contentOf,
  type JournalRecord,
  readRecord,
  readRecords,
  stepsOf,
} from "../filesystem/journal/read-record.ts";
import { type UndoneRecord, type UndoOutcome, undoRecords } from "../filesystem/journal/undo-records.ts";
import { Restoration } from "../filesystem/overlay/restore.ts";
import { AuthorFields, describeAuthor, selectsAuthor } from "./checkpoints/authors.ts";
import { baseTree } from "./checkpoints/base-tree.ts";
import { endsOf, isShown, type StepNames, selectPaths } from "./checkpoints/recorded-paths.ts";
import { requireJournal } from "./checkpoints/require-journal.ts";
import { isUnrecorded } from "./checkpoints/with-checkpoint.ts";
import { refuseCoder } from "./coder-errors.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { renderName } from "./render/entry-text.ts";
import { pauseOf, pauseWithoutEnd } from "./services/pause.ts";
import { GoneChange, goneAt, isByRecord, numbersOf, redoAdvice, renderGone, undoesOf } from "./undo/gone.ts";

const request = Type.Object(
  {
    author: Type.Optional(
      Type.String({
        isRare: true,
        description:
          "Whose newest checkpoints to undo: a session, worker or user as coder::checkpoints names it, or `anyone`. Default in the profile `agent`: your own.",
      }),
    ),
    dry_run: Type.Boolean({ default: false, description: "Check and answer, but change nothing." }),
    force: Type.Boolean({
      default: false,
      description: "Undo even what has changed since. This is recorded too.",
    }),
    paths: Type.Optional(
      Type.Array(Type.String(), {
        description: "Only these and below; by default the newest checkpoint of each.",
      }),
    ),
    seq: Type.Optional(UInt64({ description: "The checkpoint to undo." })),
    steps: Type.Optional(UInt32({ description: "How many of the newest checkpoints to undo. Default 1." })),
    transaction: Type.Optional(Type.String({ isRare: true, description: "The transaction to undo." })),
  },
  { title: "UndoInput" },
);

const UndoneCheckpoint = Named("UndoneCheckpoint", {
  author: Type.Optional(AuthorFields),
  more: Type.Optional(UInt32({ description: "Paths that are not listed." })),
  removed: Type.Array(Type.String()),
  restored: Type.Array(Type.String()),
  seq: UInt64(),
  skipped: Type.Array(
    Named("SkippedPath", {
      path: Type.String(),
      reason: Type.Union(
        (["unavailable", "in-the-way", "protected", "root-gone"] as const).map((reason) =>
          Type.Literal(reason),
        ),
      ),
    }),
  ),
  undone_by: Type.Optional(UInt64({ description: "The checkpoint that already undid it." })),
  gone: Type.Optional(
    Type.Array(GoneChange, {
      description: "Why nothing is left to undo, for each path where that is known.",
    }),
  ),
});

const state = () =>
  Type.Union((["absent", "file", "dir", "symlink", "other"] as const).map((kind) => Type.Literal(kind)));

const UndoConflict = Named("UndoConflict", {
  by: Type.Optional(
    UInt64({
      description: "The later checkpoint that changed it. Absent: another program, unless `unrecorded`.",
    }),
  ),
  expected: state(),
  found: state(),
  holds: Type.Optional(
    Type.String({ description: "Something in the folder, which would have to be empty." }),
  ),
  kept_at: Type.Optional(Type.String({ description: "Where the later change is, if it was moved back." })),
  outcome: Type.Optional(
    Type.Union(
      (["kept", "overwritten"] as const).map((outcome) => Type.Literal(outcome)),
      { description: "With `force`: what became of the later change." },
    ),
  ),
  path: Type.String(),
  seq: UInt64(),
  stays: Type.Optional(Type.Literal(true, { description: "`force` would not undo it either." })),
  unrecorded: Type.Optional(
    Type.Literal(true, { description: "A call changed it, and the journal could not record that." }),
  ),
});

const Resolved = Named("ResolvedTransaction", {
  more: Type.Optional(UInt32({ description: "Paths that are not listed." })),
  outcome: Type.Union(
    (["taken-back", "in-conflict", "given-up"] as const).map((outcome) => Type.Literal(outcome)),
  ),
  paths: Type.Array(Type.String(), {
    description:
      "In conflict: paths that others have changed. Given up: what had been removed, by its current names.",
  }),
});

const response = Type.Object(
  {
    commands: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Programs that ran while files changed after the newest checkpoint, outside of `snapshot`: that is not undone.",
      }),
    ),
    conflicts: Type.Array(UndoConflict),
    passed_over: Type.Optional(
      Type.Array(UInt64(), {
        description: "Newer checkpoints of which nothing is left to undo, without `seq` and `transaction`.",
      }),
    ),
    resolved: Type.Optional(Resolved),
    transaction: Type.Optional(Type.String()),
    undone: Type.Array(UndoneCheckpoint),
    untouched: Type.Optional(
      Type.Array(Type.String(), { description: "Those of `paths` that these checkpoints have not changed." }),
    ),
    unrecorded: Type.Optional(
      UInt32({ description: "The number of newer calls that have no checkpoint: that is not undone." }),
    ),
  },
  { title: "UndoOutput" },
);

/** Maximum listed paths of each kind. */
const maxPaths = 100;

/** `coder::undo`: undoes the changes of calls (coder §20). */
export const undo = defineCoderFunction({
  id: "coder::undo",
  since: "0.4.0",
  description:
    "Undo what calls changed, all or nothing: the newest checkpoints, or one by its `seq` or transaction. A path that is not what the checkpoint left there is a conflict, and then nothing is undone without `force`. An undo is a checkpoint too, so undoing it is redo.",
  summary: "undoes what calls changed",
  brief:
    "Undo the newest change, or a checkpoint by `seq`, all or nothing. What others changed since is a conflict: without `force`, nothing is undone. Undo again to redo.",
  effect: "writes",
  paths: [],
  takesScope: true,
  request,
  response,
  examples: [
    { title: "The last change", request: {} },
    {
      title: "What one call did to one folder, if that works",
      request: { seq: 41, paths: ["src"], dry_run: true },
    },
  ],
  async handle({ dry_run: isTrial, force, paths, ...sent }, context) {
    const which = withoutZeros(sent);
    const resolved = isTrial ? undefined : await resolve(which, force, context);
    if (resolved !== undefined) return { undone: [], conflicts: [], resolved };
    await requireFreeLabel(which, context);
    const undoing = { which: { ...which, paths }, isTrial, force };
    const passed = new Set<number>();
    let chosen = await choose(undoing.which, passed, context);
    const first = await undoChosen(chosen, undoing, context);
    let answer = first;
    while (isForNewest(which) && isWithoutEffect(answer) && !chosen.records.some(isUndo)) {
      for (const { seq } of chosen.records) passed.add(seq);
      const older = passed.size > maxPassed ? undefined : await olderThan(passed, undoing.which, context);
      if (older === undefined) return first;
      chosen = older;
      answer = { ...(await undoChosen(chosen, undoing, context)), passed_over: [...passed] };
    }
    return isWithoutEffect(answer) ? first : answer;
  },
  isFailure: ({ undone, conflicts, resolved }) =>
    (conflicts.length > 0 && undone.length === 0) ||
    isAllSkipped(undone) ||
    resolved?.outcome === "in-conflict",
  render: (answer, { sentence }, { dry_run: isTrial = false, paths }) => {
    const { undone, conflicts, resolved, commands, passed_over: passed, untouched, unrecorded } = answer;
    if (resolved !== undefined) return sentence(renderResolved(resolved));
    return [
      ...(passed === undefined ? [] : [renderPassed(passed)]),
      ...undone.flatMap(renderUndone),
      ...conflicts.map(renderConflict),
      ...(untouched === undefined ? [] : [renderUntouched(untouched, undone)]),
      ...(commands === undefined ? [] : [renderCommands(commands, conflicts)]),
      ...(unrecorded === undefined ? [] : [renderUnrecorded(unrecorded)]),
      sentence(
        verdict(undone, conflicts, {
          isTrial,
          isLimited: paths !== undefined,
          isRecorded: !isUnrecorded(answer),
          checkpoint: (answer as { readonly checkpoint?: number }).checkpoint,
        }),
      ),
    ].join("\n");
  },
});

/** The request of an undo. */
interface Undoing {
  readonly which: Which;
  readonly isTrial: boolean;
  readonly force: boolean;
}

/** Undoes the checkpoints, or answers what doing so would change. */
async function undoChosen(
  { records, selects: isChosen }: Chosen,
  { which, isTrial, force }: Undoing,
  context: CoderContext,
): Promise<Static<typeof response>> {
  const journal = requireJournal(context);
  const { transactions } = context;
  if (transactions === undefined) throw refuseCoder.noJournal(context.journalMissing);
  const { paths } = which;
  const requested = paths === undefined ? () => true : selectPaths(paths, context.jail);
  const pause = pauseOf(context);
  const untouched = await untouchedPaths(paths ?? [], records, context);
  const commands = isNewest(which) ? [...programsAfter(records[0]!, context)] : [];
  const unrecorded = isNewest(which) ? unrecordedAfter(records[0]!, context) : 0;
  const selects = (step: StepNames & { readonly seq: number }) =>
    isShown(step, context.jail) && endsOf(step).some(requested) && isChosen(step);
  const after = await recordsAfter(records.at(-1)!.seq, context);
  const later = await LaterRecords.of(after, {
    after: records.at(-1)!.seq,
    isCut: after.length === maxLater,
    isShown: (step) => isShown(step, context.jail),
    isUnrecorded: (path, time) => journal.lost.isUnrecorded(path, time),
    pause,
  });
  const plan = async (): Promise<Plan<UndoOutcome>> => {
    const tree = baseTree(context);
    const content: Parameters<typeof undoRecords>[0]["content"] = (step, kept) =>
      contentOf(journal, step, kept, pause);
    const outcome = await undoRecords({
      tree: new Restoration(tree, context),
      records,
      selects,
      force,
      content,
      later,
      goneRoots: unservedRoots(context.jail),
      pause,
    });
    const isStopped = outcome.conflicts.length > 0 && !force;
    const isKept = isTrial || isStopped || !outcome.undone.some(isChanging);
    return { steps: isKept ? [] : tree.steps, keys: tree.keys, value: outcome };
  };
  const label = context.label ?? labelOf(records);
  const { value, transaction } = await transactions.run(plan, { requester: context, label });
  // The changes are made, so the answer must say so, however late it is.
  const afterwards = transaction === undefined ? pause : pauseWithoutEnd();
  const isDone = force || value.conflicts.length === 0;
  return {
    ...(commands.length > 0 && { commands }),
    undone: isDone
      ? await listAll(value.undone, { records, selects }, { later, context, pause: afterwards })
      : [],
    conflicts: value.conflicts.slice(0, maxPaths),
    ...(untouched.length > 0 && { untouched }),
    ...(transaction !== undefined && { transaction }),
    ...(unrecorded > 0 && { unrecorded }),
  };
}

/** Maximum checkpoints that the label of an undo names. */
const maxLabelled = 5;

/** Returns the label of an undo of these checkpoints. */
function labelOf(records: readonly JournalRecord[]): string {
  const more = records.length - maxLabelled;
  return `undo of ${numbersOf(records.slice(0, maxLabelled))}${more > 0 ? ` and ${more} more` : ""}`;
}

/**
 * Returns whether an undo made a checkpoint. It is not passed over, since an undo of the older ones could
 * redo what it undid.
 */
const isUndo = ({ function_id: id }: JournalRecord): boolean => id === "coder::undo";

/** Maximum checkpoints without an effect that are passed over for an older one. */
const maxPassed = 50;

/** Returns whether a call wants the newest checkpoint, of some paths or of all. */
const isForNewest = ({ seq, transaction, steps = 1 }: Which): boolean =>
  seq === undefined && transaction === undefined && steps === 1;

/** Returns whether the checkpoints of an answer have left nothing to undo. */
const isWithoutEffect = ({ undone, conflicts }: Static<typeof response>): boolean =>
  conflicts.length === 0 && !undone.some((one) => isChanging(one) || one.skipped.length > 0);

/** Chooses as if there were no checkpoints that an undo has passed over. Returns `undefined` without any. */
async function olderThan(
  passed: ReadonlySet<number>,
  which: Which,
  context: CoderContext,
): Promise<Chosen | undefined> {
  try {
    return await choose(which, passed, context);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/**
 * Resolves a transaction that was left half done. Returns `undefined` if the call names none that it may know
 * of.
 */
async function resolve(
  { transaction }: Which,
  force: boolean,
  context: CoderContext,
): Promise<Static<typeof Resolved> | undefined> {
  const { transactions, jail } = context;
  if (transaction === undefined || jail.scope !== undefined) return undefined;
  if (!transactions?.unresolved.includes(transaction)) return undefined;
  const resolution = await transactions.resolve(transaction, { force, requester: context });
  if (resolution === undefined) return undefined;
  const { outcome, paths } = resolution;
  const more = Math.max(0, paths.length - maxPaths);
  return { outcome, paths: paths.slice(0, maxPaths), ...(more > 0 && { more }) };
}

function renderResolved({ outcome, paths, more = 0 }: Static<typeof Resolved>): string {
  const list = `${paths.map(renderName).join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
  switch (outcome) {
    case "taken-back":
      return "The transaction is taken back.";
    case "in-conflict":
      return `Nothing was changed${list === "" ? "" : `: another program has changed ${list}`}. Send force to keep what is there now, and to get back what the transaction had taken away.`;
    case "given-up":
      return `The transaction is given up: what is there now stays${list === "" ? "" : `, and what it had taken away is ${list}`}.`;
  }
}

/**
 * Returns the choice without zeros, which models send in fields that they do not use. Throws bad-input if
 * nothing else chooses: a zero is not a wish to undo the newest checkpoint.
 */
function withoutZeros({ seq, steps, ...others }: Which): Which {
  const isChosen = Boolean(seq) || Boolean(steps) || others.transaction !== undefined;
  if (!isChosen && (seq === 0 || steps === 0)) throw refuseCoder.undoZero(seq === 0 ? "seq" : "steps");
  return { ...others, ...(seq && { seq }), ...(steps && { steps }) };
}

/** Throws bad-input for a call that seems to choose a checkpoint by its label. */
async function requireFreeLabel({ seq, transaction }: Which, context: CoderContext): Promise<void> {
  const { label } = context;
  if (label === undefined || seq !== undefined || transaction !== undefined) return;
  const [named] = await firstOf(
    shownRecords(context, (record) => record.label === label),
    1,
  );
  if (named !== undefined) throw refuseCoder.undoByLabel(label, named.seq);
}

/** Returns the requested paths at or below which the records have changed nothing. */
async function untouchedPaths(
  paths: readonly string[],
  records: readonly JournalRecord[],
  context: CoderContext,
): Promise<string[]> {
  const waiting = new Map(paths.map((path) => [path, selectPaths([path], context.jail)]));
  for (const record of records)
    for (const step of await stepsOf(record, (one) => isShown(one, context.jail), pauseOf(context)))
      for (const [path, below] of waiting) if (endsOf(step).some(below)) waiting.delete(path);
  return [...waiting.keys()].slice(0, maxPaths);
}

/** Maximum number of later records that are searched for the cause of a conflict. */
const maxLater = 200;

/** Returns the newest records after `seq`, newest first. */
async function recordsAfter(seq: number, context: CoderContext): Promise<JournalRecord[]> {
  const found: JournalRecord[] = [];
  for await (const record of readRecords(requireJournal(context), { pause: pauseOf(context) })) {
    if (record.seq <= seq || found.length === maxLater) break;
    found.push(record);
  }
  return found;
}

/** Returns what has left nothing to undo at each path, and the newest undo if undos alone have. */
async function goneOf(
  { seq, restored, removed, skipped }: UndoneRecord,
  { records, selects }: Chosen,
  { later, pause }: Listing,
): Promise<Pick<Static<typeof UndoneCheckpoint>, "gone" | "more" | "undone_by">> {
  if (restored.length + removed.length + skipped.length > 0) return {};
  const record = records.find((one) => one.seq === seq);
  const steps = record === undefined ? [] : await stepsOf(record, selects, pause);
  const gone: GoneChange[] = [];
  for (const path of new Set(steps.flatMap(endsOf))) {
    const one = goneAt(path, steps, later);
    // One of several checkpoints may have left what an older one of them takes back.
    if (one !== undefined && (records.length === 1 || isByRecord(one))) gone.push(one);
    await pause();
  }
  if (gone.length === 0) return {};
  const by = undoesOf(gone);
  const more = gone.length - maxPaths;
  return {
    ...(by !== undefined && { undone_by: by.reduce((one, other) => Math.max(one, other)) }),
    gone: gone.slice(0, maxPaths),
    ...(more > 0 && { more }),
  };
}

interface Listing {
  readonly later: LaterRecords;
  readonly context: Pick<CoderContext, "author" | "profile">;
  readonly pause: () => Promise<void>;
}

/** Returns the undone records in the form of the answer. */
async function listAll(
  undone: readonly UndoneRecord[],
  chosen: Chosen,
  listing: Listing,
): Promise<Static<typeof UndoneCheckpoint>[]> {
  const all = [];
  for (const record of undone)
    all.push({
      ...otherAuthorOf(record, chosen, listing),
      ...listed(record),
      ...(await goneOf(record, chosen, listing)),
    });
  return all;
}

/** Returns the author of a record, unless that is the caller. */
function otherAuthorOf(
  { seq }: UndoneRecord,
  { records }: Chosen,
  { context }: Listing,
): Pick<Static<typeof UndoneCheckpoint>, "author"> {
  const author = records.find((one) => one.seq === seq)?.author;
  if (author === undefined || !context.profile.authors || isSameAuthor(author, context.author)) return {};
  return { author: describeAuthor(author) };
}

interface Which {
  readonly author?: string;
  readonly paths?: readonly string[] | undefined;
  readonly steps?: number;
  readonly seq?: number;
  readonly transaction?: string;
}

/** The checkpoints to undo, newest first. */
interface Chosen {
  readonly records: readonly JournalRecord[];
  /** Returns whether a step of one of them is to be undone. */
  readonly selects: (step: StepNames & { readonly seq: number }) => boolean;
}

const everyStep = () => true;

/** Chooses among the checkpoints that the call may know of. Throws a refusal without any. */
async function choose(which: Which, passed: ReadonlySet<number>, context: CoderContext): Promise<Chosen> {
  const { author, paths, steps, seq, transaction } = which;
  if ([steps, seq, transaction].filter((one) => one !== undefined).length > 1) throw refuseCoder.undoWhich();
  if (seq !== undefined) return { records: [await recordOf(seq, context)], selects: everyStep };
  if (transaction === undefined && isForOwn(author, context) && isWithoutSession(context.author))
    throw await refusalWithoutSession(paths, context);
  const isOwn = transaction === undefined ? authorFilter(author, context) : everyStep;
  const candidates = shownRecords(context, (record) => {
    if (passed.has(record.seq) || !isOwn(record.author)) return false;
    return transaction === undefined || record.transaction === transaction;
  });
  const chosen =
    paths !== undefined && steps === undefined && transaction === undefined
      ? await newestOfEach(paths, candidates, context)
      : { records: await firstOf(candidates, steps ?? 1), selects: everyStep };
  if (chosen.records.length > 0) return chosen;
  if (transaction !== undefined) throw refuseCoder.undoNothing(`transaction ${transaction}`);
  const newest = await newestOf(paths, context);
  throw newest === undefined ? nothingToUndo(paths, context) : refuseCoder.undoOfOthers(newest);
}

/** Returns the newest checkpoint of any author, or of these paths. */
async function newestOf(
  paths: readonly string[] | undefined,
  context: CoderContext,
): Promise<JournalRecord | undefined> {
  const wanted = paths === undefined ? everyStep : selectPaths(paths, context.jail);
  const touches = (record: JournalRecord) => record.steps.some((step) => endsOf(step).some(wanted));
  const [newest] = await firstOf(shownRecords(context, touches), 1);
  return newest;
}

const nothingToUndo = (paths: readonly string[] | undefined, { jail, feed }: CoderContext): Error =>
  refuseCoder.undoNothing(
    paths === undefined ? "checkpoint" : "checkpoint of these paths",
    jail.scope === undefined ? feed.programsAfter(0) : [],
  );

async function refusalWithoutSession(
  paths: readonly string[] | undefined,
  context: CoderContext,
): Promise<Error> {
  const newest = await newestOf(paths, context);
  return newest === undefined ? nothingToUndo(paths, context) : refuseCoder.undoWithoutSession(newest);
}

/** Returns whether a call means the checkpoints of its own author. */
const isForOwn = (wanted: string | undefined, { profile }: CoderContext): boolean =>
  wanted === "me" || (wanted === undefined && profile["undo.own"]);

/** Returns a test for the authors whose checkpoints are meant by a call that names none. */
function authorFilter(wanted: string | undefined, context: CoderContext): (author?: Author) => boolean {
  if (isForOwn(wanted, context)) return selectsAuthor("me", context);
  if (wanted === undefined || wanted === "anyone") return everyStep;
  return (author) => authorId(author) === wanted;
}

async function recordOf(seq: number, context: CoderContext): Promise<JournalRecord> {
  const record = await readRecord(requireJournal(context), seq, pauseOf(context));
  const isOurs =
    context.jail.scope === undefined || record?.steps.some((step) => isShown(step, context.jail));
  // A call that changed nothing may have left a record without steps, which no list has.
  if (record === undefined || record.steps.length === 0 || !isOurs)
    throw refuseCoder.undoNothing(`checkpoint ${seq}`);
  return record;
}

/** Yields the records that the call may know of, newest first. */
async function* shownRecords(
  context: CoderContext,
  isWanted: (record: JournalRecord) => boolean,
): AsyncGenerator<JournalRecord, void, void> {
  for await (const record of readRecords(requireJournal(context), { pause: pauseOf(context) }))
    if (record.steps.some((step) => isShown(step, context.jail)) && isWanted(record)) yield record;
}

async function firstOf(records: AsyncIterable<JournalRecord>, count: number): Promise<JournalRecord[]> {
  const found: JournalRecord[] = [];
  for await (const record of records) {
    found.push(record);
    if (found.length >= count) break;
  }
  return found;
}

/** Chooses for each path its newest checkpoint, and only the steps of that at or below the path. */
async function newestOfEach(
  paths: readonly string[],
  candidates: AsyncIterable<JournalRecord>,
  context: CoderContext,
): Promise<Chosen> {
  const { jail } = context;
  const pause = pauseOf(context);
  const waiting = new Map(paths.map((path) => [path, selectPaths([path], jail)]));
  const records: JournalRecord[] = [];
  const selecting = new Map<number, ((path: string) => boolean)[]>();
  for await (const record of waiting.size === 0 ? [] : candidates) {
    const steps = await stepsOf(record, (step) => isShown(step, jail), pause);
    const met = [...waiting].filter(([, below]) => steps.some((step) => endsOf(step).some(below)));
    if (met.length > 0) records.push(record);
    selecting.set(
      record.seq,
      met.map(([, below]) => below),
    );
    for (const [path] of met) waiting.delete(path);
    if (waiting.size === 0) break;
  }
  return {
    records,
    selects: (step) => (selecting.get(step.seq) ?? []).some((below) => endsOf(step).some(below)),
  };
}

function listed({ seq, restored, removed, skipped }: UndoneRecord): Static<typeof UndoneCheckpoint> {
  const lists = {
    restored: [...new Set(restored)],
    removed: [...new Set(removed)],
    skipped,
  };
  const more = Object.values(lists).reduce((sum, { length }) => sum + Math.max(0, length - maxPaths), 0);
  return {
    seq,
    restored: lists.restored.slice(0, maxPaths),
    removed: lists.removed.slice(0, maxPaths),
    skipped: skipped.slice(0, maxPaths),
    ...(more > 0 && { more }),
  };
}

/** Returns whether a call wants the newest checkpoints, whichever they are. */
const isNewest = ({ paths, seq, transaction }: Which): boolean =>
  [paths, seq, transaction].every((one) => one === undefined);

/**
 * Returns the programs of commands that changed files after a checkpoint, unless a command made the
 * checkpoint.
 */
const programsAfter = ({ seq, function_id: id }: JournalRecord, { feed, jail }: CoderContext) =>
  jail.scope !== undefined || id?.startsWith("shell::exec") ? [] : feed.programsAfter(seq);

/** Returns the number of later calls that have changed something without a checkpoint. */
function unrecordedAfter({ steps }: JournalRecord, { journal, jail }: CoderContext): number {
  const newest = steps.reduce((time, { at }) => Math.max(time, at), 0);
  return jail.scope !== undefined ? 0 : (journal?.lost.unrecordedAfter(newest) ?? 0);
}

/** Maximum number of programs that are named. */
const maxPrograms = 5;

function renderCommands(
  programs: readonly string[],
  conflicts: readonly Static<typeof UndoConflict>[],
): string {
  const named = programs.slice(0, maxPrograms).join(", ");
  const others = conflicts.some(({ outcome }) => outcome === "overwritten") ? " elsewhere" : "";
  return `[not undone${others}: the newer changes while commands (${named}) ran, which have no checkpoint]`;
}

/** Renders the newer checkpoints that an undo has passed over. */
function renderPassed(passed: readonly number[]): string {
  const what = passed.length === 1 ? "it" : "them";
  return `[passed over ${numbersOf(passed.map((seq) => ({ seq })))}: nothing of ${what} is left to undo]`;
}

const renderUnrecorded = (calls: number): string =>
  `[not undone: ${calls === 1 ? "a newer change that was" : `${calls} newer changes that were`} not recorded]`;

function renderConflict({
  path,
  seq,
  by,
  unrecorded: isUnrecordedCall,
  ...rest
}: Static<typeof UndoConflict>): string {
  const unknown = isUnrecordedCall ? "a change that was not recorded" : "a command or another program";
  const cause = by === undefined ? unknown : `#${by}`;
  if (isLinkNow(rest))
    return `conflict: ${renderName(path)} was a folder when #${seq} changed what is in it, and is a link now`;
  return `conflict: ${renderName(path)} is not what #${seq} left there: ${cause} has changed it since${renderHolding(rest)}${renderOutcome(rest)}`;
}

/** Returns whether a link has taken the place of a folder above a path. */
const isLinkNow = ({ expected, found, stays }: Partial<Static<typeof UndoConflict>>): boolean =>
  stays === true && expected === "dir" && found === "symlink";

const renderHolding = ({ holds }: Pick<Static<typeof UndoConflict>, "holds">): string =>
  holds === undefined ? "" : `; ${renderName(holds)} is in it`;

function renderOutcome({ outcome, kept_at: at }: Pick<Static<typeof UndoConflict>, "outcome" | "kept_at">) {
  if (outcome === undefined) return "";
  return `; that change is ${outcome}${at === undefined ? "" : ` in ${renderName(at)}`}`;
}

function renderUntouched(paths: readonly string[], undone: readonly { readonly seq: number }[]): string {
  const who = undone.length === 1 ? `#${undone[0]!.seq} has` : "these checkpoints have";
  return `[${who} not changed ${paths.map(renderName).join(", ")}]`;
}

function renderUndone(record: Static<typeof UndoneCheckpoint>): string[] {
  const { seq, author, restored, removed, skipped, more } = record;
  return [
    `#${seq}${author === undefined ? "" : ` by ${renderAuthor(author)}`}`,
    ...restored.map((path) => `  restored: ${renderName(path)}`),
    ...removed.map((path) => `  removed: ${renderName(path)}`),
    ...skipped.map(({ path, reason }) => `  skipped: ${renderName(path)} (${reason})`),
    ...(more === undefined ? [] : [`  and ${more} more`]),
  ];
}

/** Returns the advice to undo the later checkpoints first, if no other program is the cause of a conflict. */
function firstUndoing(conflicts: readonly Static<typeof UndoConflict>[]): string {
  const later = [...new Set(conflicts.map(({ by }) => by))].sort((one = 0, other = 0) => other - one);
  if (later.includes(undefined) || later.length > 5) return "";
  return `undo ${later.map((seq) => `#${seq}`).join(", then ")} first, or `;
}

/** Returns the advice on conflicts: to send `force`, or where that does not help, what to do instead. */
function adviceOnForce(conflicts: readonly Static<typeof UndoConflict>[]): string {
  const staying = conflicts.filter(({ stays }) => stays);
  if (staying.length === 0) return "send force to undo over conflicts";
  const [there, gone] = [true, false].map((isThere) => [
    ...new Set(
      staying.filter(({ found }) => (found !== "absent") === isThere).map(({ path, holds }) => holds ?? path),
    ),
  ]);
  const named = (paths: readonly string[]) =>
    `${paths.slice(0, maxNamed).map(renderName).join(", ")}${paths.length > maxNamed ? " and others" : ""}`;
  const steps = [
    ...(there!.length === 0 ? [] : [`move away ${named(there!)}`]),
    ...(gone!.length === 0 ? [] : [`bring back ${named(gone!)} or its folder`]),
  ];
  const isAll = staying.length === conflicts.length;
  const after = isAll ? "undo again: force leaves that as it is" : "send force to undo over the others";
  return `${steps.join(", ")}, then ${after}`;
}

/** Maximum paths that the advice on conflicts names. */
const maxNamed = 3;

/** Returns whether the undo of a record changes anything in the end. */
const isChanging = ({ restored, removed }: Pick<UndoneRecord, "restored" | "removed">): boolean =>
  restored.length + removed.length > 0;

/** Returns whether an undo changes nothing, because it leaves out what it could have changed. */
const isAllSkipped = (undone: readonly Static<typeof UndoneCheckpoint>[]): boolean =>
  !undone.some(isChanging) && undone.some(({ skipped }) => skipped.length > 0);

interface VerdictOptions {
  readonly isTrial: boolean;
  /** Whether only some paths were to be undone. */
  readonly isLimited: boolean;
  /** Whether the undo has a checkpoint, if it has changed anything. */
  readonly isRecorded: boolean;
  /** The number of its own checkpoint, if the answer has it. */
  readonly checkpoint: number | undefined;
}

function verdict(
  undone: readonly Static<typeof UndoneCheckpoint>[],
  conflicts: readonly Static<typeof UndoConflict>[],
  { isTrial, isLimited, isRecorded, checkpoint }: VerdictOptions,
): string {
  const nothing = `Nothing ${isTrial ? "would be" : "was"} undone`;
  if (undone.length === 0) return `${nothing}; ${firstUndoing(conflicts)}${adviceOnForce(conflicts)}.`;
  if (isAllSkipped(undone)) return `${nothing}.`;
  const isChanged = undone.some(isChanging);
  const by = [...new Set(undone.flatMap(({ undone_by: one }) => one ?? []))].map((one) => `#${one}`);
  if (!isChanged && undone.length > 1 && undone.some(({ seq }) => by.includes(`#${seq}`)))
    return `${nothing}: these took each other back, since an undo is a checkpoint too. Send the seq of the one to undo.`;
  if (!isChanged && undone.every((one) => one.undone_by !== undefined))
    return `${nothing}: undone already by ${by.join(", ")}. To redo, undo ${by.length === 1 ? by[0] : "those"}.`;
  const gone = undone.flatMap((one) => one.gone ?? []);
  const next = isLimited
    ? "coder::checkpoints with path lists what changed there; send its seq."
    : "Send the seq of the one to undo; coder::checkpoints lists them.";
  if (!isChanged && gone.length > 0)
    return `${nothing}: ${renderGone(undone, gone)} ${redoAdvice(gone) ?? next}`;
  if (!isChanged && isLimited) return `${nothing}: nothing at these paths is left to undo. ${next}`;
  if (!isChanged) return `${nothing}: what ${numbersOf(undone)} changed is no longer there. ${next}`;
  const isOver = conflicts.some(({ outcome }) => outcome !== "kept");
  const over = isOver ? ", over what was changed since" : "";
  if (!isRecorded) return `Undone${over}.`;
  // Without fields, it would take back a later change of the caller, and a client without a session has none.
  const again = checkpoint === undefined ? "without fields" : `with seq ${checkpoint}`;
  return isTrial ? `Would be undone${over}.` : `Undone${over}; coder::undo ${again} takes this undo back.`;
}
