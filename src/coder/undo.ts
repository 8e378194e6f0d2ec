import { Type } from "@sinclair/typebox";
import { isSameAuthor } from "../base/author.ts";
import { Refusal } from "../base/errors.ts";
import { UInt32, UInt64 } from "../base/schema/fragments.ts";
import type { Plan } from "../filesystem/disk/steps.ts";
import { ancestorsOf } from "../filesystem/jail/backend.ts";
import { unservedRoots } from "../filesystem/jail/roots.ts";
import { LaterRecords } from "../filesystem/journal/later-records.ts";
import {
  contentOf,
  type JournalRecord,
  type RecordedStep,
  readRecords,
  stepsOf,
} from "../filesystem/journal/read-record.ts";
import { StepsByPath } from "../filesystem/journal/step-effects.ts";
import {
  type UndoneRecord,
  type UndoOptions,
  type UndoOutcome,
  undoRecords,
} from "../filesystem/journal/undo-records.ts";
import { Restoration } from "../filesystem/overlay/restore.ts";
import { describeAuthor } from "./checkpoints/authors.ts";
import { baseTree } from "./checkpoints/base-tree.ts";
import {
  endsOf,
  isShown,
  pathsChangedBy,
  type RequestedPaths,
  requestedPaths,
  selectPaths,
} from "./checkpoints/recorded-paths.ts";
import { requireJournal } from "./checkpoints/require-journal.ts";
import { refuseCoder } from "./coder-errors.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { pauseOf, pauseWithoutEnd } from "./services/pause.ts";
import {
  isAllSkipped,
  isChanging,
  type Resolved,
  response,
  type UndoAnswer,
  type UndoneCheckpoint,
} from "./undo/answer.ts";
import {
  type CheckpointChoice,
  type Chosen,
  chooseCheckpoints,
  isForNewest,
  isNewest,
  requireFreeLabel,
  withoutZeros,
} from "./undo/choice.ts";
import { type GoneChange, goneAmong, numbersOf, undoesOf } from "./undo/gone.ts";
import { reasonOfNothing, renderUndo } from "./undo/text.ts";
import { type RefusedUndo, waysToUndo } from "./undo/ways.ts";

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
  async handle({ dry_run: isTrial, force, paths: sentPaths, ...sent }, context) {
    const which = withoutZeros(sent);
    const resolved = isTrial ? undefined : await resolve(which, force, context);
    if (resolved !== undefined) return { undone: [], conflicts: [], resolved };
    await requireFreeLabel(which, context);
    const paths = sentPaths && (await requestedPaths(sentPaths, context, pauseOf(context)));
    const undoing = { which: { ...which, paths }, isTrial, force };
    const passed = new Set<number>();
    let chosen = await chooseCheckpoints(undoing.which, passed, context);
    const first = await undoChosen(chosen, undoing, context);
    let answer = first;
    while (isForNewest(which) && isWithoutEffect(answer) && !chosen.records.some(isUndo)) {
      for (const { seq } of chosen.records) passed.add(seq);
      const older = passed.size > maxPassed ? undefined : await olderThan(passed, undoing.which, context);
      if (older === undefined) break;
      chosen = older;
      answer = { ...(await undoChosen(chosen, undoing, context)), passed_over: [...passed] };
    }
    return withReason(isWithoutEffect(answer) ? first : answer, undoing, context);
  },
  isFailure: ({ undone, conflicts, resolved }) =>
    (conflicts.length > 0 && undone.length === 0) ||
    isAllSkipped(undone) ||
    resolved?.outcome === "in-conflict",
  render: (answer, { sentence }, { dry_run: isTrial = false, paths }) =>
    renderUndo(answer, { isTrial, isLimited: paths !== undefined, paths }, sentence),
});

/** The request of an undo. */
interface Undoing {
  readonly which: CheckpointChoice;
  readonly isTrial: boolean;
  readonly force: boolean;
}

/** Adds the reason to an answer that changes nothing, which its lists may not show. */
function withReason(
  answer: UndoAnswer,
  { which, isTrial }: Undoing,
  { profile, sentence = (text) => text }: CoderContext,
): UndoAnswer {
  const reason = profile["undo.note"]
    ? reasonOfNothing(answer, {
        isTrial,
        isLimited: which.paths !== undefined,
        paths: which.paths && [...which.paths.keys()],
      })
    : undefined;
  return reason === undefined ? answer : { ...answer, note: sentence(reason) };
}

/** Undoes the checkpoints, or answers what doing so would change. */
async function undoChosen(
  chosen: Chosen,
  { which, isTrial, force }: Undoing,
  context: CoderContext,
): Promise<UndoAnswer> {
  const { records } = chosen;
  const [journal, { transactions }] = [requireJournal(context), context];
  if (transactions === undefined) throw refuseCoder.noJournal(context.journalMissing);
  const { paths } = which;
  const pause = pauseOf(context);
  const { selects, isNeeded } = await selectSteps(paths, chosen, context);
  const untouched = paths === undefined ? [] : await untouchedPaths(paths, records, context);
  const unrecorded = isNewest(which) ? unrecordedAfter(records[0]!, context) : 0;
  const after = await recordsAfter(records.at(-1)!.seq, context);
  const commands = isNewest(which)
    ? [...(await programsAfter(records[0]!, [...after, records.at(-1)!], context))]
    : [];
  const later = await LaterRecords.of(after, {
    after: records.at(-1)!.seq,
    isCut: after.length === maxLater,
    isShown: (step) => isShown(step, context.jail),
    isUnrecorded: (path, time) => journal.lost.isUnrecorded(path, time),
    pause,
  });
  const plan = async (): Promise<Plan<UndoOutcome>> => {
    const tree = baseTree(context);
    const outcome = await undoRecords({
      ...{ records, selects, isNeeded, force, later, pause },
      tree: new Restoration(tree, context),
      original: new Restoration(baseTree(context), context),
      content: (step, kept) => contentOf(journal, step, kept, pause),
      goneRoots: unservedRoots(context.jail),
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
  const isStuck = value.conflicts.length > 0 && (!isDone || isAllSkipped(value.undone));
  const refused = { chosen, selects, isNeeded, which, conflicts: value.conflicts, after };
  return {
    ...(commands.length > 0 && { commands }),
    undone: isDone
      ? await listAll(value.undone, { records, selects }, { later, context, pause: afterwards })
      : [],
    conflicts: value.conflicts.slice(0, maxPaths),
    ...(untouched.length > 0 && { untouched }),
    ...(transaction !== undefined && { transaction }),
    ...(unrecorded > 0 && { unrecorded }),
    ...(isStuck && (await waysOut(refused, context))),
  };
}

/** Returns the ways to undo what conflicts have stopped, or whether more of them may be found. */
async function waysOut(
  refused: RefusedUndo,
  context: CoderContext,
): Promise<Pick<UndoAnswer, "ways" | "more_later">> {
  const ways = await waysToUndo(refused, context);
  if (ways.length > 0) return { ways };
  return refused.after.length === maxLater ? { more_later: true } : {};
}

/**
 * Returns tests for the steps of the checkpoints that are at or below the paths, and for those that removed a
 * folder above one of the paths.
 */
async function selectSteps(
  paths: RequestedPaths | undefined,
  { selects: isChosen }: Chosen,
  context: CoderContext,
): Promise<Pick<Chosen, "selects"> & Required<Pick<UndoOptions, "isNeeded">>> {
  const { jail } = context;
  if (paths === undefined)
    return { selects: (step) => isChosen(step) && isShown(step, jail), isNeeded: () => false };
  const above = await foldersAbove(paths, pauseOf(context));
  const isRequested = selectPaths(new Set(paths.values()));
  return {
    selects: (step) => isRequested(step) && isChosen(step) && isShown(step, jail),
    isNeeded: ({ kind, path, before }) =>
      kind === "remove" && before.state.kind === "dir" && above.has(path) && isShown({ path }, jail),
  };
}

/** Returns all folders above the paths. */
async function foldersAbove(paths: RequestedPaths, pause: () => Promise<void>): Promise<ReadonlySet<string>> {
  const above = new Set<string>();
  for (const path of paths.values()) {
    for (const folder of ancestorsOf(path).reverse()) {
      if (above.has(folder)) break;
      above.add(folder);
    }
    await pause();
  }
  return above;
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

/** Returns whether the checkpoints of an answer have left nothing to undo. */
const isWithoutEffect = ({ undone, conflicts }: UndoAnswer): boolean =>
  conflicts.length === 0 && !undone.some((one) => isChanging(one) || one.skipped.length > 0);

/** Chooses as if there were no checkpoints that an undo has passed over. Returns `undefined` without any. */
async function olderThan(
  passed: ReadonlySet<number>,
  which: CheckpointChoice,
  context: CoderContext,
): Promise<Chosen | undefined> {
  try {
    return await chooseCheckpoints(which, passed, context);
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
  { transaction }: CheckpointChoice,
  force: boolean,
  context: CoderContext,
): Promise<Resolved | undefined> {
  const { transactions, jail } = context;
  if (transaction === undefined || jail.scope !== undefined) return undefined;
  if (!transactions?.unresolved.includes(transaction)) return undefined;
  const resolution = await transactions.resolve(transaction, { force, requester: context });
  if (resolution === undefined) return undefined;
  const { outcome, paths } = resolution;
  const more = Math.max(0, paths.length - maxPaths);
  return { outcome, paths: paths.slice(0, maxPaths), ...(more > 0 && { more }) };
}

/** Returns the requested paths at or below which the records have changed nothing. */
async function untouchedPaths(
  paths: RequestedPaths,
  records: readonly JournalRecord[],
  context: CoderContext,
): Promise<string[]> {
  const visiting = { jail: context.jail, pause: pauseOf(context) };
  const waiting = new Set(paths.values());
  for (const record of records)
    for (const path of await pathsChangedBy(record, waiting, visiting)) waiting.delete(path);
  return [...paths].flatMap(([sent, path]) => (waiting.has(path) ? sent : [])).slice(0, maxPaths);
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

const hasNothingLeft = ({ restored, removed, skipped }: UndoneRecord): boolean =>
  restored.length + removed.length + skipped.length === 0;

/** Returns what has left nothing to undo at each path, and the newest undo if undos alone have. */
async function goneOf(
  undone: UndoneRecord,
  { bySeq, selects }: Listed,
  { later, pause, together }: Listing,
): Promise<Pick<UndoneCheckpoint, "gone" | "more" | "undone_by">> {
  if (!hasNothingLeft(undone)) return {};
  const record = bySeq.get(undone.seq);
  const steps = record === undefined ? [] : await stepsOf(record, selects, pause);
  const gone: GoneChange[] = [];
  const byPath = new StepsByPath();
  await byPath.add(steps, pause);
  for (const path of byPath.paths) {
    const one = goneAmong(path, { own: byPath.stepsAt(path), together: together?.stepsAt(path) }, later);
    if (one !== undefined) gone.push(one);
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

/** The checkpoints of an undo, also by their numbers. */
interface Listed extends Chosen {
  readonly bySeq: ReadonlyMap<number, JournalRecord>;
}

interface Listing {
  readonly later: LaterRecords;
  readonly context: Pick<CoderContext, "author" | "profile">;
  readonly pause: () => Promise<void>;
  /** The steps of all records, if there are several. */
  readonly together?: StepsByPath;
}

/** Returns the undone records in the form of the answer. */
async function listAll(
  undone: readonly UndoneRecord[],
  chosen: Chosen,
  listing: Listing,
): Promise<UndoneCheckpoint[]> {
  const together = undone.some(hasNothingLeft) ? await stepsOfSeveral(chosen, listing) : undefined;
  const bySeq = new Map(chosen.records.map((record) => [record.seq, record]));
  const all = [];
  for (const record of undone) {
    all.push({
      ...otherAuthorOf(record, { bySeq }, listing),
      ...listed(record),
      ...(await goneOf(record, { ...chosen, bySeq }, { ...listing, ...(together && { together }) })),
    });
    await listing.pause();
  }
  return all;
}

async function stepsOfSeveral(
  { records, selects }: Chosen,
  { pause }: Listing,
): Promise<StepsByPath | undefined> {
  if (records.length === 1) return undefined;
  const together = new StepsByPath();
  for (const record of records.toReversed()) await together.add(await stepsOf(record, selects, pause), pause);
  return together;
}

/** Returns the author of a record, unless that is the caller. */
function otherAuthorOf(
  { seq }: UndoneRecord,
  { bySeq }: Pick<Listed, "bySeq">,
  { context }: Listing,
): Pick<UndoneCheckpoint, "author"> {
  const author = bySeq.get(seq)?.author;
  if (author === undefined || !context.profile.authors || isSameAuthor(author, context.author)) return {};
  return { author: describeAuthor(author) };
}

function listed({ seq, restored, removed, skipped }: UndoneRecord): UndoneCheckpoint {
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

/** Returns the programs that ran while files changed after a checkpoint, which is one of these records. */
async function programsAfter(
  { seq, steps }: JournalRecord,
  records: readonly JournalRecord[],
  context: CoderContext,
): Promise<readonly string[]> {
  if (context.jail.scope !== undefined) return [];
  const pause = pauseOf(context);
  const recorded = new Map<string, number[]>();
  for (const record of records) {
    if (record.seq < seq) continue;
    for (const step of record.steps) {
      for (const path of endsOf(step)) {
        const seqs = recorded.get(path);
        if (seqs === undefined) recorded.set(path, [record.seq]);
        else if (seqs.at(-1) !== record.seq) seqs.push(record.seq);
      }
      await pause();
    }
  }
  const time = Math.floor(newestStep(steps) / 1000);
  return await context.feed.programsAfter({ seq, time, recorded });
}

/** Returns the time of the newest step, in microseconds. */
const newestStep = (steps: readonly RecordedStep[]): number =>
  steps.reduce((newest, { at }) => Math.max(newest, at), 0);

/** Returns the number of later calls that have changed something without a checkpoint. */
function unrecordedAfter({ steps }: JournalRecord, { journal, jail }: CoderContext): number {
  return jail.scope !== undefined ? 0 : (journal?.lost.unrecordedAfter(newestStep(steps)) ?? 0);
}
