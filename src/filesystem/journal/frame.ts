/**
 * The form of a journal on disk. A frame is a line with the key of its segment, a checksum and three lengths,
 * followed by JSON, the contents that it keeps, and the checksum again. It is written before its step is
 * done, in one appending write. The remains of a write by a killed process show in the checksums; the next
 * complete frame is found by the key, which no file content contains.
 */
import type { Author } from "../../base/author.ts";
import type { Owner } from "../disk/metadata.ts";
import { revisionOfBytes } from "../files/revision.ts";

/**
 * The location of a file's content in a record: in its own frame, or in a file beside the frames, which holds
 * one large content, or many small ones, from `at` on.
 */
export type ContentLocation =
  | { readonly inline: number; readonly length: number }
  | { readonly blob: number; readonly at?: number; readonly length: number };

/** The recorded state of a path. */
export type RecordedState =
  | { readonly kind: "absent" }
  /** `identity` is present if the step moves it: see `entryIdentityOf`. */
  | { readonly kind: "other"; readonly identity?: string }
  /**
   * `content` is present only if the step removes it, and then `owner` too, if that is not the worker or if
   * there are set-id bits; older records lack it. `identity` is present only if the step moves it and its
   * bytes were not hashed: `revision` is then empty.
   */
  | {
      readonly kind: "file";
      readonly mode: number;
      readonly revision: string;
      readonly owner?: Owner;
      readonly content?: ContentLocation;
      readonly identity?: string;
    }
  /** The text of a link in base64, because it need not be UTF-8. */
  | { readonly kind: "symlink"; readonly text: string }
  /** The mode is absent if the step makes the folder, unless a transaction had made it under another name. */
  | { readonly kind: "dir"; readonly mode?: number | undefined };

/**
 * A state, and the states of everything below it. Paths are relative to it, each folder before its entries.
 */
export interface RecordedTree {
  readonly state: RecordedState;
  readonly inside?: readonly (readonly [path: string, state: RecordedState])[];
}

/** The reason why a step cannot be undone. */
export type Loss = "too-large" | "special-file" | "name" | "unreadable" | "not-written";

/** A step of the disk. */
export interface StepFrame {
  /** Microseconds since 1970. Frames of concurrent calls are undone in this order. */
  readonly at: number;
  readonly kind: "place" | "remove" | "rename" | "chmod";
  /** The path relative to the base; of a rename, the new path. */
  readonly path: string;
  readonly from?: string;
  /** The state of the path before the step. */
  readonly before: RecordedTree;
  /** The state of the path after the step. */
  readonly after: RecordedTree;
  /** Present if the step cannot be undone; `before` and `after` then mean nothing. */
  readonly unavailable?: Loss;
}

/** The beginning of a record. */
export interface RecordHead {
  readonly version: 2;
  /** The time of the change, in milliseconds since 1970. */
  readonly ts: number;
  readonly function_id?: string | undefined;
  readonly caller?: string | undefined;
  /** The author of the call, if it is not the caller. */
  readonly author?: Author | undefined;
  readonly label?: string | undefined;
  readonly transaction?: string | undefined;
}

/**
 * The indexes of frames that were not done after all. A step frame's index is its position among the step
 * frames.
 */
export interface NotDone {
  readonly notDone: readonly number[];
}

/** The end of a segment: records that begin after it do not count. */
export interface SegmentEnd {
  readonly isEnd: true;
}

/** A frame. `record` is the name of its record, unique in the segment. */
export type JournalFrame = { readonly record: string } & (RecordHead | StepFrame | NotDone | SegmentEnd);

export const isHead = (frame: JournalFrame): frame is JournalFrame & RecordHead => "version" in frame;
export const isNotDone = (frame: JournalFrame): frame is JournalFrame & NotDone => "notDone" in frame;
export const isEnd = (frame: JournalFrame): frame is JournalFrame & SegmentEnd => "isEnd" in frame;

/** The contents kept with a frame. */
export interface FrameContents {
  readonly inline: readonly Buffer[];
  /** The bytes that are kept beside the frames. */
  readonly apart: number;
}

const nothing: FrameContents = { inline: [], apart: 0 };

export interface EncodedFrame {
  readonly pieces: readonly Buffer[];
  /** The bytes of all pieces. */
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

/** A frame, with the offsets of its contents and its end, relative to its start. */
export interface DecodedFrame {
  readonly frame: JournalFrame;
  readonly contents: number;
  readonly end: number;
  readonly apart: number;
}

/** Maximum bytes of the first line. */
const maxLineLength = 2 * 17 + 3 * 17;
const line = /^([0-9a-f]{16}) ([0-9a-f]{16}) (\d{1,15}) (\d{1,15}) (\d{1,15})\n/;
const trailerLength = 17;

/**
 * Decodes the frame at offset `at` of a file, which `read` reads. Returns `undefined` if no complete frame of
 * this segment begins there. Contents are checked only for presence, because each has its revision.
 */
export function decodeFrame(
  read: (at: number, length: number) => Buffer,
  at: number,
  key: string,
): DecodedFrame | undefined {
  const found = line.exec(read(at, maxLineLength).toString("latin1"));
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
