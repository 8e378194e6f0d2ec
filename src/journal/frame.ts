/**
 * The form of a journal on disk. A record is a file of frames, one after the other: a line with a checksum and two lengths,
 * the frame as JSON, and the contents that it keeps. A frame is written before its step is done, in one go, and what a
 * killed process has left of one shows in its checksum or its lengths.
 */
import { revisionOfBytes } from "../files/revision.ts";

/** Where a record keeps the content of a file: in its own frame, or in a file of its own. */
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
  readonly version: 1;
  readonly seq: number;
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

export type JournalFrame = RecordHead | StepFrame | NotDone;

export const isHead = (frame: JournalFrame): frame is RecordHead => "version" in frame;
export const isNotDone = (frame: JournalFrame): frame is NotDone => "notDone" in frame;

/** The bytes of a frame, in pieces. */
export function encodeFrame(frame: JournalFrame, contents: readonly Buffer[] = []): Buffer[] {
  const json = Buffer.from(JSON.stringify(frame));
  const length = contents.reduce((sum, content) => sum + content.length, 0);
  return [Buffer.from(`${checksumOf(json)} ${json.length} ${length}\n`), json, ...contents];
}

/** A frame, and where the contents after it begin and end, in bytes from where it begins. */
export interface DecodedFrame {
  readonly frame: JournalFrame;
  readonly contents: number;
  readonly end: number;
}

/** The longest first line. */
const longestLine = 16 + 2 * 17;
const line = /^([0-9a-f]{16}) (\d{1,15}) (\d{1,15})\n/;

/**
 * The frame that begins at `at` of a file, which `read` reads; undefined where no whole frame does. Contents are checked
 * only for being there: each has its revision.
 */
export function decodeFrame(
  read: (at: number, length: number) => Buffer,
  at: number,
  fileBytes: number,
): DecodedFrame | undefined {
  const found = line.exec(read(at, longestLine).toString("latin1"));
  if (found === null) return undefined;
  const [whole, checksum, jsonLength, contentLength] = found;
  const contents = whole.length + Number(jsonLength);
  const end = contents + Number(contentLength);
  if (at + end > fileBytes) return undefined;
  const json = read(at + whole.length, Number(jsonLength));
  if (checksumOf(json) !== checksum) return undefined;
  return { frame: JSON.parse(json.toString()), contents, end };
}

const checksumOf = (json: Buffer): string => revisionOfBytes([json]).slice(-16);
