/**
 * The intent record of a transaction: the steps that it is about to make. From it, the next start finishes
 * the transaction or rolls it back.
 */
import { createHash } from "node:crypto";
import { minSliced, parseInSlices } from "../../base/scheduling/parse-json.ts";
import { runInSlices, type Steps, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { EntryKind } from "../jail/kind.ts";
import { isIntentRecord } from "./record-shape.ts";

/**
 * The properties of an entry that a rename does not change. Numbers are decimal, since they may have 64 bits.
 */
export interface RecordedEntry {
  readonly kind: EntryKind;
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  /** The time of the last change of content, in nanoseconds since 1970. */
  readonly mtime: string;
  /** The time of the last change of status when the record was written. */
  readonly ctime: string;
  /** The revision of a staged file, if its content was in memory. */
  readonly revision?: string | undefined;
}

/**
 * A step, and the properties that identify its entries. `temporary` and `aside` are names in the folder of
 * `path`.
 */
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
      /**
       * The third name, which the replaced entry has for a moment if the system cannot exchange two names.
       */
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

/** The properties that identify a served folder. */
export interface FolderIdentity {
  readonly dev: string;
  readonly ino: string;
}

export interface IntentRecord {
  readonly version: 1;
  readonly transaction: string;
  /** A temporary name made by the process that wrote the record. */
  readonly maker: string;
  /** The folder that the record was written in. */
  readonly state: FolderIdentity;
  /** The served folder, or the first of `roots`. */
  readonly base: FolderIdentity;
  /** The roots that the steps change, if several are served. */
  readonly roots?: readonly (FolderIdentity & { readonly name: string })[];
  readonly steps: readonly IntendedStep[];
}

/** Returns a line with a checksum, in pieces. A line that was not written to its end has none. */
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

/** The line after a record whose steps are done. */
export const committedMark = Buffer.from("committed\n");

export interface DecodedRecord {
  readonly record: IntentRecord;
  /** Whether all its steps were done. */
  readonly isCommitted: boolean;
}

/** Resolves to the record in a file, or to `"damaged"` if no worker wrote it, or not to its end. */
export async function decodeRecord(bytes: Buffer, slice: TimeSlice): Promise<DecodedRecord | "damaged"> {
  const end = bytes.indexOf("\n");
  if (end < headLength) return "damaged";
  const json = bytes.subarray(headLength, end);
  const head = `${await runInSlices(checksumOf(json), slice)} `;
  if (bytes.toString("latin1", 0, headLength) !== head) return "damaged";
  const record = await parse(json);
  if (!(await runInSlices(isIntentRecord(record), slice))) return "damaged";
  const mark = bytes.subarray(end + 1, end + 1 + committedMark.length);
  return { record: record as IntentRecord, isCommitted: mark.equals(committedMark) };
}

/** The length of a checksum and the space after it. */
const headLength = 64 + 1;

/** Bytes that are hashed in one step. */
const hashedAtOnce = 256 * 1024;

function* checksumOf(json: Buffer): Steps<string> {
  const checksum = createHash("sha256");
  for (let at = 0; at < json.length; at += hashedAtOnce) {
    checksum.update(json.subarray(at, at + hashedAtOnce));
    yield;
  }
  return checksum.digest("hex");
}

async function parse(json: Buffer): Promise<unknown> {
  try {
    return json.length < minSliced ? JSON.parse(json.toString()) : await parseInSlices(json);
  } catch {
    return undefined;
  }
}
