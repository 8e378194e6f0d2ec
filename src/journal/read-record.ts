/** Reads what a journal keeps. */
import { closeSync, fstatSync, readSync } from "node:fs";
import { revisionOfBytes } from "../files/revision.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Log } from "../log/log.ts";
import type { StateFolder } from "../state/state-folder.ts";
import {
  type ContentPlace,
  decodeFrame,
  isHead,
  isNotDone,
  type JournalFrame,
  type RecordHead,
  type StepFrame,
} from "./frame.ts";
import { openRecordFile, recordNumbers } from "./record-files.ts";

/** A step, as a record has it. */
export interface RecordedStep extends StepFrame {
  readonly seq: number;
  /** Where the contents begin that its frame keeps. */
  readonly contentsAt: number;
}

/** What one call changed. */
export interface JournalRecord extends RecordHead {
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

/** The records older than `before`, newest first, each read when it is asked for. Throws the errno error. */
export function* readRecords(
  source: JournalSource,
  { before = Number.POSITIVE_INFINITY }: { readonly before?: number } = {},
): Generator<JournalRecord, void, void> {
  for (const seq of recordNumbers(source.state)) {
    if (seq >= before) continue;
    const record = readRecord(source, seq);
    if (record !== undefined) yield record;
  }
}

/** Undefined for one that is gone by now, or of which nothing whole is left. Throws the errno error. */
export function readRecord({ state, log }: JournalSource, seq: number): JournalRecord | undefined {
  const descriptor = openIfThere(state, seq);
  if (descriptor === undefined) return undefined;
  try {
    const { size } = fstatSync(descriptor);
    const { frames, end } = readFrames(descriptor, size);
    if (end < size) log.warn("torn journal record", { seq, ignored_bytes: size - end });
    return recordOf(seq, frames, size);
  } finally {
    closeSync(descriptor);
  }
}

interface PlacedFrame {
  readonly frame: JournalFrame;
  readonly contentsAt: number;
}

function readFrames(descriptor: number, size: number): { frames: PlacedFrame[]; end: number } {
  const frames: PlacedFrame[] = [];
  const read = readerOf(descriptor);
  let end = 0;
  while (end < size) {
    const decoded = decodeFrame(read, end, size);
    if (decoded === undefined) break;
    frames.push({ frame: decoded.frame, contentsAt: end + decoded.contents });
    end += decoded.end;
  }
  return { frames, end };
}

const blockBytes = 4096;

/** Most frames fit into one read. */
function readerOf(descriptor: number): (at: number, length: number) => Buffer {
  let block: Buffer = Buffer.alloc(0);
  let blockAt = 0;
  return (at, length) => {
    if (at < blockAt || at + length > blockAt + block.length) {
      block = readAt(descriptor, at, Math.max(length, blockBytes));
      blockAt = at;
    }
    return block.subarray(at - blockAt, at - blockAt + length);
  };
}

/** As many bytes as there are. */
function readAt(descriptor: number, at: number, length: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafe(length);
  let read = 0;
  for (let more = 1; more > 0 && read < length; read += more)
    more = readSync(descriptor, bytes, read, length - read, at + read);
  return bytes.subarray(0, read);
}

function recordOf(seq: number, frames: readonly PlacedFrame[], size: number): JournalRecord | undefined {
  const [first, ...rest] = frames;
  if (first === undefined || !isHead(first.frame)) return undefined;
  const notDone = new Set(rest.flatMap(({ frame }) => (isNotDone(frame) ? frame.notDone : [])));
  const all = rest.flatMap(({ frame, contentsAt }): RecordedStep[] =>
    isNotDone(frame) || isHead(frame) ? [] : [{ ...frame, seq, contentsAt }],
  );
  const apart = all.flatMap(({ before }) => [
    before.state,
    ...(before.inside ?? []).map(([, state]) => state),
  ]);
  const bytes = apart.reduce(
    (sum, state) =>
      state.kind === "file" && state.content !== undefined && "blob" in state.content
        ? sum + state.content.length
        : sum,
    size,
  );
  return { ...first.frame, seq, steps: all.filter((_, index) => !notDone.has(index)), bytes };
}

function openIfThere(state: StateFolder, seq: number): number | undefined {
  try {
    return openRecordFile(state, seq);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** A content that a step took away. Undefined when it is gone, or is not what it was. Throws the errno error. */
export function contentOf(
  { state }: JournalSource,
  { seq, contentsAt }: RecordedStep,
  { place, revision }: { readonly place: ContentPlace; readonly revision: string },
): Buffer | undefined {
  const isInline = "inline" in place;
  let descriptor: number;
  try {
    descriptor = openRecordFile(state, seq, isInline ? undefined : place.blob);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const bytes = readAt(descriptor, isInline ? contentsAt + place.inline : 0, place.length);
    return revisionOfBytes([bytes]) === revision ? bytes : undefined;
  } finally {
    closeSync(descriptor);
  }
}
