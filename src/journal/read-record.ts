/** Reads what a journal keeps. */
import { closeSync, fstatSync } from "node:fs";
import { revisionOfBytes } from "../files/revision.ts";
import type { Log } from "../log/log.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { type ContentPlace, isHead, isNotDone, type RecordHead, type StepFrame } from "./frame.ts";
import { type PlacedFrame, readBytes, readHeader, SegmentScan } from "./segment.ts";
import { listSegments, openContent, openFrames, openIfThere } from "./segment-folder.ts";

/** A step, as a record has it. */
export interface RecordedStep extends StepFrame {
  readonly seq: number;
  /** The number of its segment, and the name of its record there. */
  readonly segment: number;
  readonly record: string;
  /** Where the contents begin that its frame keeps. */
  readonly contentsAt: number;
  /** Of everything that is kept for it. */
  readonly bytes: number;
}

/** What one call changed. */
export interface JournalRecord extends RecordHead {
  /** Its number, which rises from one record to the next. */
  readonly seq: number;
  /** In the order in which they were done. */
  readonly steps: readonly RecordedStep[];
  /** Of everything that is kept for it. */
  readonly bytes: number;
}

/** Where the records of a root are. */
export interface JournalSource {
  readonly state: StateFolder;
  readonly log: Log;
}

/** The records older than `before`, newest first, each segment read when it is asked for. Throws the errno error. */
export function* readRecords(
  source: JournalSource,
  { before = Number.POSITIVE_INFINITY }: { readonly before?: number } = {},
): Generator<JournalRecord, void, void> {
  for (const segment of listSegments(source.state).reverse()) {
    if (segment >= before) continue;
    for (const record of readSegment(source, segment).reverse()) if (record.seq < before) yield record;
  }
}

/** Undefined for one that is gone by now, or of which nothing whole is left. Throws the errno error. */
export function readRecord(source: JournalSource, seq: number): JournalRecord | undefined {
  const segment = listSegments(source.state).findLast((first) => first <= seq);
  return segment === undefined ? undefined : readSegment(source, segment).find((one) => one.seq === seq);
}

/** The records of a segment, in ascending order; those that no whole frame begins are none. */
function readSegment({ state, log }: JournalSource, segment: number): JournalRecord[] {
  const descriptor = openIfThere(() => openFrames(state, segment));
  if (descriptor === undefined) return [];
  try {
    const { size } = fstatSync(descriptor);
    const found = readHeader(descriptor);
    if (found === undefined) {
      log.warn("torn journal", { segment, ignored_bytes: size });
      return [];
    }
    const scan = new SegmentScan(descriptor, found);
    const records = recordsOf([...scan.frames()], segment);
    const ignored = scan.ignored + Math.max(0, size - scan.end);
    if (ignored > 0) log.warn("torn journal", { segment, ignored_bytes: ignored });
    return records;
  } finally {
    closeSync(descriptor);
  }
}

function recordsOf(frames: readonly PlacedFrame[], segment: number): JournalRecord[] {
  const byRecord = new Map<string, PlacedFrame[]>();
  for (const placed of frames) {
    const { record } = placed.frame;
    const known = byRecord.get(record);
    if (known === undefined) byRecord.set(record, [placed]);
    else known.push(placed);
  }
  return frames.flatMap(({ frame, place }) =>
    place === undefined || !isHead(frame)
      ? []
      : [recordOf(frame, byRecord.get(frame.record)!, { segment, seq: segment + place })],
  );
}

function recordOf(
  head: RecordHead,
  frames: readonly PlacedFrame[],
  { segment, seq }: { readonly segment: number; readonly seq: number },
): JournalRecord {
  const notDone = new Set(frames.flatMap(({ frame }) => (isNotDone(frame) ? frame.notDone : [])));
  const all = frames.flatMap(({ frame, contentsAt, bytes }): RecordedStep[] =>
    isNotDone(frame) || isHead(frame) ? [] : [{ ...frame, seq, segment, contentsAt, bytes }],
  );
  return {
    ...head,
    seq,
    steps: all.filter((_, index) => !notDone.has(index)),
    bytes: frames.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** A content that a step took away. Undefined when it is gone, or is not what it was. Throws the errno error. */
export function contentOf(
  { state }: JournalSource,
  { segment, record, contentsAt }: RecordedStep,
  { place, revision }: { readonly place: ContentPlace; readonly revision: string },
): Buffer | undefined {
  const isInline = "inline" in place;
  const descriptor = openIfThere(() =>
    isInline ? openFrames(state, segment) : openContent(state, segment, { record, blob: place.blob }),
  );
  if (descriptor === undefined) return undefined;
  try {
    const bytes = readBytes(descriptor, isInline ? contentsAt + place.inline : 0, place.length);
    return revisionOfBytes([bytes]) === revision ? bytes : undefined;
  } finally {
    closeSync(descriptor);
  }
}
