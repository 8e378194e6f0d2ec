/**
 * The intent record of a transaction: what it is about to do, by which the next start finishes it or takes it
 * back.
 */
import { createHash } from "node:crypto";
import type { TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { EntryKind } from "../jail/kind.ts";
import { isIntentRecord } from "./record-shape.ts";

/**
 * An entry by what stays the same when it gets another name. Numbers are decimal, since they may have 64
 * bits.
 */
export interface RecordedEntry {
  readonly kind: EntryKind;
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  /** The time of the last change of content, in nanoseconds since 1970. */
  readonly mtime: string;
  /** The same of the last change of status when the record was written. */
  readonly ctime: string;
  /** Of the content of a staged file, where it was at hand. */
  readonly revision?: string | undefined;
}

/** A step with what it is recognised by: `temporary` and `aside` are names in the folder of `path`. */
export type IntendedStep =
  | {
      readonly kind: "place";
      readonly path: string;
      readonly temporary: string;
      readonly staged: RecordedEntry;
    }
  | {
      readonly kind: "exchange";
      readonly path: string;
      readonly temporary: string;
      /** What is replaced has it for a moment where no call exchanges two names. */
      readonly aside: string;
      readonly staged: RecordedEntry;
      readonly entry: RecordedEntry;
    }
  | {
      readonly kind: "set-aside";
      readonly path: string;
      readonly temporary: string;
      readonly entry: RecordedEntry;
    }
  | { readonly kind: "rename"; readonly from: string; readonly to: string; readonly entry: RecordedEntry }
  | {
      readonly kind: "chmod";
      readonly path: string;
      readonly before: number;
      readonly after: number;
      readonly entry: RecordedEntry;
    };

/** What a folder that is served is recognised by. */
export interface FolderIdentity {
  readonly dev: string;
  readonly ino: string;
}

export interface IntentRecord {
  readonly version: 1;
  readonly transaction: string;
  /** A temporary name of the process that wrote it. */
  readonly maker: string;
  /** The folder that the record was written in. */
  readonly state: FolderIdentity;
  /** The folder that is served, or the first of `roots`. */
  readonly base: FolderIdentity;
  /** The roots that the steps are about, where several are served. */
  readonly roots?: readonly (FolderIdentity & { readonly name: string })[];
  readonly steps: readonly IntendedStep[];
}

/** Returns the pieces of a line with a checksum, which a write that was cut short does not have. */
export async function encodeRecord({ steps, ...others }: IntentRecord, slice: TimeSlice): Promise<Buffer[]> {
  const checksum = createHash("sha256");
  const pieces: Buffer[] = [];
  const add = (text: string) => {
    const piece = Buffer.from(text);
    checksum.update(piece);
    pieces.push(piece);
  };
  add(`${JSON.stringify(others).slice(0, -1)},"steps":[`);
  for (let from = 0; from < steps.length; from += stepsOfPiece) {
    const some = steps.slice(from, from + stepsOfPiece).map((step) => JSON.stringify(step));
    add(`${from === 0 ? "" : ","}${some.join(",")}`);
    await slice.yieldIfDue();
  }
  add("]}");
  return [Buffer.from(`${checksum.digest("hex")} `), ...pieces, Buffer.from("\n")];
}

const stepsOfPiece = 256;

/** A line after the record. */
export const committedMark = Buffer.from("committed\n");

/**
 * The record and whether all its steps were done; `"damaged"` for what no worker has written, or not to its
 * end.
 */
export function decodeRecord(
  bytes: Buffer,
): { readonly record: IntentRecord; readonly isCommitted: boolean } | "damaged" {
  const [line = "", mark, end] = bytes.toString().split("\n");
  const text = line.slice(headLength);
  if (mark === undefined || line.slice(0, headLength) !== headOf(text)) return "damaged";
  const record = parse(text);
  if (!isIntentRecord(record)) return "damaged";
  return {
    record: record as IntentRecord,
    isCommitted: end !== undefined && `${mark}\n` === committedMark.toString(),
  };
}

/** Characters of a checksum and the blank behind it. */
const headLength = 64 + 1;

const headOf = (text: string): string => `${createHash("sha256").update(text).digest("hex")} `;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
