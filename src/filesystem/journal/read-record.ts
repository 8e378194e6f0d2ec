/** Reads the records of a journal. */
import { createHash } from "node:crypto";
import { closeSync, fstatSync } from "node:fs";
import type { Log } from "../../base/log/log.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { noteRevision, revisionOfBytes } from "../files/revision.ts";
import type { StateFolder } from "../state/state-folder.ts";
import {
  type ContentLocation,
  isEnd,
  isHead,
  isNotDone,
  type RecordedState,
  type RecordedTree,
  type RecordHead,
  type StepFrame,
} from "./frame.ts";
import { type PlacedFrame, readBytes, readHeader, readInto, SegmentScan } from "./segment.ts";
import { listSegments, openContent, openFrames, openIfThere } from "./segment-folder.ts";

/** A state without that of what is below it: the entries of a folder have steps of their own. */
interface RecordedEntry {
  readonly state: RecordedState;
}

/**
 * A step in the form of a record, about one path and its other name. A frame of a folder with everything in
 * it is read as a step for each entry, all at its time.
 */
export interface RecordedStep extends Omit<StepFrame, "before" | "after"> {
  readonly before: RecordedEntry;
  readonly after: RecordedEntry;
  /** Its position among the steps of its frame. */
  readonly part: number;
  readonly seq: number;
  /** The number of its segment, and the name of its record there. */
  readonly segment: number;
  readonly record: string;
  /** The offset of the contents in its frame. */
  readonly contentsAt: number;
  /** The bytes of everything kept for it, and for the other steps of its frame. */
  readonly bytes: number;
}

/** The changes of one call, as read from the journal. */
export interface JournalRecord extends RecordHead {
  /** Its number, which increases from one record to the next. */
  readonly seq: number;
  /** The recorded steps of the call, oldest first. */
  readonly steps: readonly RecordedStep[];
  /** The bytes of everything kept for it. */
  readonly bytes: number;
}

/** The place of a root's records. */
export interface JournalSource {
  readonly state: StateFolder;
  readonly log: Log;
}

/** Lets other calls run. Called between two frames, it throws if the reading must end. */
export type Pause = () => Promise<void>;

/**
 * Yields the records older than `before`, newest first, reading each segment when needed. Throws the errno
 * error.
 */
export async function* readRecords(
  source: JournalSource,
  { before = Number.POSITIVE_INFINITY, pause }: { readonly before?: number; readonly pause: Pause },
): AsyncGenerator<JournalRecord, void, void> {
  for (const segment of listSegments(source.state).reverse()) {
    if (segment >= before) continue;
    const records = await inPauses(readSegment(source, segment), pause);
    for (const record of records.reverse()) if (record.seq < before) yield record;
  }
}

/** Returns the number of the oldest record that the journal has. It has dropped all older ones. */
export const oldestKept = ({ state }: JournalSource): number => listSegments(state)[0] ?? 1;

/**
 * Returns the record, or `undefined` if it is gone or no complete part of it is left. Throws the errno error.
 */
export async function readRecord(
  source: JournalSource,
  seq: number,
  pause: Pause,
): Promise<JournalRecord | undefined> {
  const segment = listSegments(source.state).findLast((first) => first <= seq);
  if (segment === undefined) return undefined;
  return (await inPauses(readSegment(source, segment), pause)).find((one) => one.seq === seq);
}

/** Does the work, and calls `pause` between two steps. */
export async function inPauses<T>(steps: Steps<T>, pause: Pause): Promise<T> {
  try {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await pause();
    }
  } finally {
    steps.return(undefined as never);
  }
}

/** Yields the records of a segment, in ascending order, except those without a complete first frame. */
export function* readSegment({ state, log }: JournalSource, segment: number): Steps<JournalRecord[]> {
  const descriptor = openIfThere(() => openFrames(state, segment));
  if (descriptor === undefined) return [];
  try {
    const { size } = fstatSync(descriptor);
    const found = readHeader(descriptor);
    if (found === undefined) {
      sayTorn({ state, log }, segment, size);
      return [];
    }
    const scan = new SegmentScan(descriptor, found);
    const frames: PlacedFrame[] = [];
    for (const frame of scan.frames()) {
      frames.push(frame);
      yield;
    }
    const records = yield* recordsOf(frames, segment);
    const ignored = scan.ignored + Math.max(0, size - scan.end);
    if (ignored > 0) sayTorn({ state, log }, segment, ignored);
    return records;
  } finally {
    closeSync(descriptor);
  }
}

/** The ignored bytes of each segment that the log has. */
const saidTorn = new WeakMap<StateFolder, Map<number, number>>();

/** Logs ignored bytes, once, since a segment is read again and again. */
function sayTorn({ state, log }: JournalSource, segment: number, ignored: number): void {
  const said = saidTorn.get(state) ?? new Map<number, number>();
  saidTorn.set(state, said);
  if (said.get(segment) === ignored) return;
  said.set(segment, ignored);
  log.warn("torn journal", { segment, ignored_bytes: ignored });
}

function* recordsOf(frames: readonly PlacedFrame[], segment: number): Steps<JournalRecord[]> {
  const byRecord = new Map<string, PlacedFrame[]>();
  for (const placed of frames) {
    const { record } = placed.frame;
    const known = byRecord.get(record);
    if (known === undefined) byRecord.set(record, [placed]);
    else known.push(placed);
  }
  const records: JournalRecord[] = [];
  for (const { frame, place } of frames) {
    if (place === undefined || !isHead(frame) || !isWholeHead(frame)) continue;
    const its = byRecord.get(frame.record)!;
    records.push(yield* recordOf(frame, its, { segment, seq: segment + place }));
  }
  return records;
}

/** Returns whether a head has the types of this version: any other must not prevent reading the rest. */
const isWholeHead = ({ ts, author = {}, ...names }: RecordHead): boolean =>
  Math.abs(ts) <= latestTime &&
  typeof author === "object" &&
  [names.function_id, names.caller, names.label, names.transaction, ...Object.values(author ?? {})].every(
    (name) => name === undefined || typeof name === "string",
  );

/** Milliseconds since 1970 of the last moment that a `Date` can hold (ECMA-262, 21.4.1.1). */
const latestTime = 8.64e15;

const isWholeStep = ({ path, from = path, before, after }: StepFrame): boolean =>
  [path, from].every((end) => typeof end === "string") && [before, after].every(isWholeTree);

/** Returns whether a rename changes nothing, although an entry was at the new name. */
const isToOwnName = ({ path, from }: StepFrame): boolean => from === path;

function isWholeTree(tree: RecordedTree | null | undefined): boolean {
  const { state, inside = [] } = tree ?? {};
  const isWholeEntry = (entry: unknown) =>
    Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1]?.kind === "string";
  return typeof state?.kind === "string" && Array.isArray(inside) && inside.every(isWholeEntry);
}

const absent = { state: { kind: "absent" } } as const;

/** Returns a state, the same object for each that says only that nothing is there. */
const entryOf = ({ state }: RecordedTree): RecordedEntry => (state.kind === "absent" ? absent : { state });

/** The place of a frame: that of its contents, and the segment and the record that it is in. */
type PlaceOfFrame = Pick<RecordedStep, "seq" | "segment" | "record" | "contentsAt">;

/**
 * Yields the steps of a frame: what goes from a folder goes before the folder, the innermost first, and what
 * comes into one comes after it. The bytes are those of the folder's own step.
 */
function* stepsOfFrame(
  { at, path, kind, before, after, from, unavailable }: StepFrame,
  { seq, segment, record, contentsAt }: PlaceOfFrame,
  bytes: number,
): Generator<RecordedStep, void, void> {
  let part = 0;
  // Lists all properties, because there may be many steps, and a copy by spreading takes twice the memory.
  const step = (own: Pick<RecordedStep, "kind" | "path" | "before" | "after" | "bytes">): RecordedStep => ({
    at,
    kind: own.kind,
    path: own.path,
    before: own.before,
    after: own.after,
    part: part++,
    seq,
    segment,
    record,
    contentsAt,
    bytes: own.bytes,
  });
  const inside = (below: string) => ({ path: `${path}/${below}`, bytes: 0 });
  for (const [below, state] of before.inside?.toReversed() ?? [])
    yield step({ ...inside(below), kind: "remove", before: { state }, after: absent });
  const whole = step({ kind, path, before: entryOf(before), after: entryOf(after), bytes });
  if (from === undefined && unavailable === undefined) yield whole;
  else
    yield {
      ...whole,
      ...(from !== undefined && { from }),
      ...(unavailable !== undefined && { unavailable }),
    };
  for (const [below, state] of after.inside ?? [])
    yield step({ ...inside(below), kind: "place", before: absent, after: { state } });
}

/** Maximum parts of a frame that are read in one step. */
const partsAtOnce = 512;

function* recordOf(
  head: RecordHead,
  frames: readonly PlacedFrame[],
  { segment, seq }: { readonly segment: number; readonly seq: number },
): Steps<JournalRecord> {
  const notDone = new Set(frames.flatMap(({ frame }) => (isNotDone(frame) ? frame.notDone : [])));
  const steps: RecordedStep[] = [];
  let index = 0;
  let kept = 0;
  for (const { frame, contentsAt, bytes } of frames) {
    kept += bytes;
    if (isNotDone(frame) || isHead(frame) || isEnd(frame)) continue;
    yield;
    if (notDone.has(index++) || !isWholeStep(frame) || isToOwnName(frame)) continue;
    const { record } = frame;
    for (const step of stepsOfFrame(frame, { seq, segment, record, contentsAt }, bytes)) {
      steps.push(step);
      if (step.part % partsAtOnce === partsAtOnce - 1) yield;
    }
  }
  const { caller, author = caller === undefined ? undefined : { worker: caller } } = head;
  return { ...head, author: author ?? undefined, seq, steps, bytes: kept };
}

/** Content that a step removed: its location, and its revision. */
export interface KeptContent {
  readonly place: ContentLocation;
  readonly revision: string;
}

/**
 * Returns content that a step removed, or `undefined` if it is gone or damaged. Lets other calls run between
 * its pieces. Throws the errno error.
 */
export async function contentOf(
  { state }: JournalSource,
  { segment, record, contentsAt }: RecordedStep,
  { place, revision }: KeptContent,
  pause: Pause,
): Promise<Buffer | undefined> {
  const isInline = "inline" in place;
  const start = isInline ? contentsAt + place.inline : (place.at ?? 0);
  if (![start, place.length].every(isOffset)) return undefined;
  const descriptor = openIfThere(() =>
    isInline ? openFrames(state, segment) : openContent(state, segment, { record, blob: place.blob }),
  );
  if (descriptor === undefined) return undefined;
  try {
    if (place.length > pieceBytes)
      return await largeContentOf(descriptor, { start, length: place.length, revision, pause });
    const content = place.length > 0 ? readBytes(descriptor, start, place.length) : empty;
    return revisionOfBytes([content]) === revision ? content : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** Returns whether a number of a record, which may be forged, can be an offset or a length. */
const isOffset = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const pieceBytes = 1024 * 1024;
const empty = Buffer.alloc(0);

interface LargeContent {
  /** Its place in the file. */
  readonly start: number;
  readonly length: number;
  readonly revision: string;
  readonly pause: Pause;
}

/** Reads and hashes a content in pieces. Returns `undefined` if it does not have the revision. */
async function largeContentOf(
  descriptor: number,
  { start, length, revision, pause }: LargeContent,
): Promise<Buffer | undefined> {
  // The file may be truncated, and the length forged.
  if (fstatSync(descriptor).size < start + length) return undefined;
  const content = Buffer.allocUnsafe(length);
  const hash = createHash("sha256");
  for (let at = 0; at < length; at += pieceBytes) {
    if (at > 0) await pause();
    const piece = content.subarray(at, at + pieceBytes);
    if (readInto(piece, descriptor, start + at) < piece.length) return undefined;
    hash.update(piece);
  }
  if (`sha256:${hash.digest("hex")}` !== revision) return undefined;
  noteRevision(content, revision);
  return content;
}

/** Returns the selected steps of a record, calling `pause` after each, since there may be many. */
export async function stepsOf(
  { steps }: Pick<JournalRecord, "steps">,
  isSelected: (step: RecordedStep) => boolean,
  pause: Pause,
): Promise<RecordedStep[]> {
  const selected: RecordedStep[] = [];
  for (const step of steps) {
    if (isSelected(step)) selected.push(step);
    await pause();
  }
  return selected;
}
