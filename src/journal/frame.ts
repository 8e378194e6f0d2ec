/**
 * The form of a journal on disk. A frame is a line with the key of its segment, a checksum and three lengths, then JSON, then the contents
 * that it keeps, then the checksum again. It is written before its step is done, in one write that appends, and what a killed
 * process has left of one shows in its checksums; the next whole one is found by the key, which no content of a file has.
 */
import { revisionOfBytes } from "../files/revision.ts";

/** Where a record keeps the content of a file: in its own frame, or in a file of its own beside the frames. */
export type ContentPlace =
  | { readonly inline: number; readonly length: number }
  | { readonly blob: number; readonly length: number };

/** What has a name, as far as a record knows it. */
export type RecordedState =
  | { readonly kind: "absent" | "other" }
  /** `content` stands only where the step takes it away. */
  | {
      readonly kind: "file";
      readonly mode: number;
      readonly revision: string;
      readonly content?: ContentPlace;
    }
  /** Base64: the text of a link need not be UTF-8. */
  | { readonly kind: "symlink"; readonly text: string }
  /** Without the mode of one that is made with what the umask leaves. */
  | { readonly kind: "dir"; readonly mode?: number | undefined };

/** A state, and those of everything below it: paths are from there, each folder before what is in it. */
export interface RecordedTree {
  readonly state: RecordedState;
  readonly inside?: readonly (readonly [path: string, state: RecordedState])[];
}

/** Why a step cannot be undone. */
export type Loss = "too-large" | "special-file" | "name" | "unreadable" | "not-written";

/** A step of the disk. */
export interface StepFrame {
  /** Microseconds since 1970: frames of calls that ran at once are undone in this order. */
  readonly at: number;
  readonly kind: "place" | "remove" | "rename" | "chmod";
  /** From the base. Of a rename: the new path. */
  readonly path: string;
  readonly from?: string;
  /** What has the path before the step. */
  readonly before: RecordedTree;
  /** What has it afterwards. */
  readonly after: RecordedTree;
  /** Set where the step cannot be undone; `before` and `after` say nothing then. */
  readonly unavailable?: Loss;
}

/** What a record begins with. */
export interface RecordHead {
  readonly version: 2;
  /** Milliseconds since 1970. */
  readonly ts: number;
  readonly function_id?: string | undefined;
  readonly caller?: string | undefined;
  readonly label?: string | undefined;
  readonly transaction?: string | undefined;
}

/** The frames with these indexes were not done after all; a step frame's index is its place among them. */
export interface NotDone {
  readonly notDone: readonly number[];
}

/** `record`: the name of the record that it belongs to, which no other record of the segment has. */
export type JournalFrame = { readonly record: string } & (RecordHead | StepFrame | NotDone);

export const isHead = (frame: JournalFrame): frame is JournalFrame & RecordHead => "version" in frame;
export const isNotDone = (frame: JournalFrame): frame is JournalFrame & NotDone => "notDone" in frame;

/** What is kept with a frame. */
export interface FrameContents {
  readonly inline: readonly Buffer[];
  /** Bytes that are kept beside the frames. */
  readonly apart: number;
}

const nothing: FrameContents = { inline: [], apart: 0 };

export interface EncodedFrame {
  readonly pieces: readonly Buffer[];
  /** Of all pieces. */
  readonly bytes: number;
  readonly apart: number;
  readonly isFirst: boolean;
}

export function encodeFrame(
  key: string,
  frame: JournalFrame,
  { inline, apart }: FrameContents = nothing,
): EncodedFrame {
  const json = Buffer.from(JSON.stringify(frame));
  const length = lengthOf(inline);
  const checksum = checksumOf(json);
  const line = Buffer.from(`${key} ${checksum} ${json.length} ${length} ${apart}\n`);
  const pieces = [line, json, ...inline, Buffer.from(`${checksum}\n`)];
  return { pieces, bytes: lengthOf(pieces), apart, isFirst: isHead(frame) };
}

const lengthOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

/** A frame, and where the contents after it begin and where it ends, in bytes from where it begins. */
export interface DecodedFrame {
  readonly frame: JournalFrame;
  readonly contents: number;
  readonly end: number;
  readonly apart: number;
}

/** The longest first line. */
const longestLine = 2 * 17 + 3 * 17;
const line = /^([0-9a-f]{16}) ([0-9a-f]{16}) (\d{1,15}) (\d{1,15}) (\d{1,15})\n/;
const trailerLength = 17;

/**
 * The frame that begins at `at` of a file, which `read` reads; undefined where no whole frame of this segment does. Contents are checked
 * only for being there: each has its revision.
 */
export function decodeFrame(
  read: (at: number, length: number) => Buffer,
  at: number,
  key: string,
): DecodedFrame | undefined {
  const found = line.exec(read(at, longestLine).toString("latin1"));
  if (found === null || found[1] !== key) return undefined;
  const [whole, , checksum, jsonLength, contentLength, apart] = found;
  const contents = whole.length + Number(jsonLength);
  const trailer = contents + Number(contentLength);
  if (read(at + trailer, trailerLength).toString("latin1") !== `${checksum}\n`) return undefined;
  const json = read(at + whole.length, Number(jsonLength));
  if (checksumOf(json) !== checksum) return undefined;
  const end = trailer + trailerLength;
  return { frame: JSON.parse(json.toString()), contents, end, apart: Number(apart) };
}

const checksumOf = (json: Buffer): string => revisionOfBytes([json]).slice(-16);
