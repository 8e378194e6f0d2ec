/** The choice of the checkpoints that an undo takes back. */
import { type Author, authorId, isWithoutSession } from "../../base/author.ts";
import { type JournalRecord, readRecord, readRecords } from "../../filesystem/journal/read-record.ts";
import { selectsAuthor } from "../checkpoints/authors.ts";
import {
  isShown,
  pathsChangedBy,
  type RequestedPaths,
  type StepNames,
  selectPaths,
  someInPauses,
} from "../checkpoints/recorded-paths.ts";
import { requireJournal } from "../checkpoints/require-journal.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";
import { pauseOf } from "../services/pause.ts";

/** The checkpoints that a request names. */
export interface CheckpointChoice {
  readonly author?: string;
  readonly paths?: RequestedPaths | undefined;
  readonly steps?: number;
  readonly seq?: number;
  readonly transaction?: string;
}

type RecordedNames = StepNames & { readonly seq: number };

/** The checkpoints to undo, newest first. */
export interface Chosen {
  readonly records: readonly JournalRecord[];
  /** Returns whether a step of one of them is to be undone. */
  readonly selects: (step: RecordedNames) => boolean;
  /** The paths that each of them is chosen for, if not each for all. */
  readonly met?: ReadonlyMap<number, ReadonlySet<string>>;
}

const everyStep = () => true;

/** Chooses among the checkpoints that the call may know of. Throws a refusal without any. */
export async function chooseCheckpoints(
  which: CheckpointChoice,
  passed: ReadonlySet<number>,
  context: CoderContext,
): Promise<Chosen> {
  const { author, paths, steps, seq, transaction } = which;
  if ([steps, seq, transaction].filter((one) => one !== undefined).length > 1) throw refuseCoder.undoWhich();
  if (seq !== undefined) return { records: [await recordOf(seq, context)], selects: everyStep };
  if (transaction === undefined && isForOwn(author, context) && isWithoutSession(context.author))
    throw await refusalWithoutSession(paths, context);
  const isOwn = transaction === undefined ? authorFilter(author, context) : everyStep;
  const isWanted = (record: JournalRecord) =>
    !passed.has(record.seq) &&
    isOwn(record.author) &&
    (transaction === undefined || record.transaction === transaction);
  const candidates = shownRecords(context, { isWanted });
  const chosen =
    paths !== undefined && steps === undefined && transaction === undefined
      ? await newestOfEach(paths, candidates, context)
      : { records: await firstOf(candidates, steps ?? 1), selects: everyStep };
  if (chosen.records.length > 0) return chosen;
  if (transaction !== undefined) throw refuseCoder.undoNothing(`transaction ${transaction}`);
  throw await refusalOfOthers(isForOwn(author, context) ? undefined : author, paths, context);
}

/** Returns the newest checkpoints of any author, or of these paths. */
function newestAt(
  paths: RequestedPaths | undefined,
  context: CoderContext,
): AsyncGenerator<JournalRecord, void, void> {
  const selects = paths === undefined ? everyStep : selectPaths(new Set(paths.values()));
  return shownRecords(context, { selects });
}

/** Returns the refusal of an undo of checkpoints of the author `wanted`, or the caller, who has left none. */
async function refusalOfOthers(
  wanted: string | undefined,
  paths: RequestedPaths | undefined,
  context: CoderContext,
): Promise<Error> {
  const count = wanted === undefined ? 1 : Number.POSITIVE_INFINITY;
  const records = await firstOf(newestAt(paths, context), count);
  const [newest] = records;
  if (newest === undefined) return nothingToUndo(paths, context);
  const authors = new Map(records.map(({ author }) => [authorId(author), author]));
  authors.delete(undefined);
  const known = [...authors.values()].filter((author) => author !== undefined);
  return refuseCoder.undoOfOthers(newest, { wanted, authors: known });
}

const nothingToUndo = async (
  paths: RequestedPaths | undefined,
  { jail, feed }: CoderContext,
): Promise<Error> =>
  refuseCoder.undoNothing(
    paths === undefined ? "checkpoint" : "checkpoint of these paths",
    jail.scope === undefined ? await feed.programsAfter({ seq: 0, time: 0 }) : [],
  );

async function refusalWithoutSession(
  paths: RequestedPaths | undefined,
  context: CoderContext,
): Promise<Error> {
  const [newest] = await firstOf(newestAt(paths, context), 1);
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
  const { jail } = context;
  const pause = pauseOf(context);
  const record = await readRecord(requireJournal(context), seq, pause);
  // A call that changed nothing may have left a record without steps, which no list has.
  if (record === undefined || record.steps.length === 0) throw refuseCoder.undoNothing(`checkpoint ${seq}`);
  if (jail.scope !== undefined && !(await someInPauses(record.steps, (step) => isShown(step, jail), pause)))
    throw refuseCoder.undoNothing(`checkpoint ${seq}`);
  return record;
}

interface Shown {
  readonly isWanted?: (record: JournalRecord) => boolean;
  /** Returns whether a step that the call may know of makes its record a wanted one. */
  readonly selects?: (step: StepNames) => boolean;
}

/** Yields the records that the call may know of, newest first. */
async function* shownRecords(
  context: CoderContext,
  { isWanted = everyStep, selects = everyStep }: Shown,
): AsyncGenerator<JournalRecord, void, void> {
  const { jail } = context;
  const pause = pauseOf(context);
  const isMet = (step: StepNames) => selects(step) && isShown(step, jail);
  for await (const record of readRecords(requireJournal(context), { pause }))
    if (isWanted(record) && (await someInPauses(record.steps, isMet, pause))) yield record;
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
  paths: RequestedPaths,
  candidates: AsyncIterable<JournalRecord>,
  context: CoderContext,
): Promise<Chosen> {
  const visiting = { jail: context.jail, pause: pauseOf(context) };
  const waiting = new Set(paths.values());
  const records: JournalRecord[] = [];
  const selecting = new Map<number, (step: StepNames) => boolean>();
  const chosenFor = new Map<number, ReadonlySet<string>>();
  for await (const record of waiting.size === 0 ? [] : candidates) {
    const met = await pathsChangedBy(record, waiting, visiting);
    if (met.size === 0) continue;
    records.push(record);
    selecting.set(record.seq, selectPaths(met));
    chosenFor.set(record.seq, met);
    for (const path of met) waiting.delete(path);
    if (waiting.size === 0) break;
  }
  const selects = (step: RecordedNames) => selecting.get(step.seq)?.(step) ?? false;
  return { records, selects, met: chosenFor };
}

/**
 * Returns the choice without zeros, which models send in fields that they do not use. Throws bad-input for a
 * single one if nothing else chooses: it is not a wish to undo the newest checkpoint. Clients that have to
 * send every field send both.
 */
export function withoutZeros({ seq, steps, ...others }: CheckpointChoice): CheckpointChoice {
  const isChosen = Boolean(seq) || Boolean(steps) || others.transaction !== undefined;
  if (!isChosen && (seq === 0) !== (steps === 0)) throw refuseCoder.undoZero(seq === 0 ? "seq" : "steps");
  return { ...others, ...(seq && { seq }), ...(steps && { steps }) };
}

/** Throws bad-input for a call that seems to choose a checkpoint by its label. */
export async function requireFreeLabel(
  { seq, transaction }: CheckpointChoice,
  context: CoderContext,
): Promise<void> {
  const { label } = context;
  if (label === undefined || seq !== undefined || transaction !== undefined) return;
  const [named] = await firstOf(shownRecords(context, { isWanted: (record) => record.label === label }), 1);
  if (named !== undefined) throw refuseCoder.undoByLabel(label, named.seq);
}

/** Returns whether a call wants the newest checkpoint, of some paths or of all. */
export const isForNewest = ({ seq, transaction, steps = 1 }: CheckpointChoice): boolean =>
  seq === undefined && transaction === undefined && steps === 1;

/** Returns whether a call wants the newest checkpoints, whichever they are. */
export const isNewest = ({ paths, seq, transaction }: CheckpointChoice): boolean =>
  [paths, seq, transaction].every((one) => one === undefined);
