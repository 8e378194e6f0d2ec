/** Checks the chain of hashes in an audit trail. */
import { existsSync, readFileSync } from "node:fs";
import { errnoOf } from "../../filesystem/jail/errno.ts";
import { firstHash, hashOfLine, maxKeep } from "./audit-file.ts";

interface Verdict {
  /** The verdict in sentences, for a person. */
  readonly text: string;
  /** The exit status: 0 if each line names the hash of the line before, 3 otherwise. */
  readonly status: 0 | 3;
}

interface Line {
  /** The place of the line, such as `audit.jsonl.1:12`. */
  readonly place: string;
  readonly bytes: Buffer;
}

/**
 * Checks each line of `path` and of the older files beside it, oldest first. Throws an Error if the newest
 * file cannot be read.
 */
export function verifyTrail(path: string): Verdict {
  const { files, missing } = filesOf(path);
  const faults = missing.map((file) => `${file} is missing`);
  let newest: string | undefined;
  let beginning = "";
  let count = 0;
  for (const file of files) {
    for (const { place, bytes } of linesOf(file, readTrail(file))) {
      const line = readLine(bytes);
      if (line === undefined) faults.push(`${place} is not a line of an audit trail`);
      else if (newest === undefined) {
        if (line.rotated === true) beginning = " Older lines are no longer kept.";
        else if (line.previous !== firstHash) faults.push(`${place} follows a line that is missing`);
      } else if (line.previous !== newest) faults.push(`${place} does not follow the line before it`);
      newest = hashOfLine(bytes);
      count++;
    }
  }
  const found = `${count} ${count === 1 ? "line" : "lines"} in ${files.length} ${files.length === 1 ? "file" : "files"}`;
  if (faults.length > 0)
    return {
      status: 3,
      text: `${found}. Lines were changed, removed, inserted, or cut off by a kill or a full disk:\n${list(faults)}`,
    };
  return {
    status: 0,
    text: `${found}; each names the hash of the line before.${beginning}\nThe newest hash is ${newest ?? firstHash}; a running worker names it in coder::info.\n`,
  };
}

/** Maximum faults that are listed. */
const maxFaults = 20;

const list = (faults: readonly string[]): string =>
  [
    ...faults.slice(0, maxFaults).map((fault) => `  ${fault}`),
    ...(faults.length > maxFaults ? [`  and ${faults.length - maxFaults} more`] : []),
    "",
  ].join("\n");

interface TrailFiles {
  /** The files of the trail, the oldest first. */
  readonly files: readonly string[];
  /** The files that are missing between those, the oldest first. */
  readonly missing: readonly string[];
}

function filesOf(path: string): TrailFiles {
  const older = Array.from({ length: maxKeep }, (_, index) => `${path}.${maxKeep - index}`);
  const oldest = older.findIndex((file) => existsSync(file));
  const expected = oldest < 0 ? [] : older.slice(oldest);
  const isThere = new Set(expected.filter((file) => existsSync(file)));
  return {
    files: [...isThere, path],
    missing: expected.filter((file) => !isThere.has(file)),
  };
}

function readTrail(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

const unreadable = (path: string, error: unknown): Error =>
  new Error(`the audit trail ${path} cannot be read (${errnoOf(error) ?? String(error)})`);

/** Splits a file into its lines, as bytes: a line that is not UTF-8 has a hash too. */
function* linesOf(file: string, content: Buffer): Generator<Line> {
  let number = 0;
  for (let start = 0; start < content.length; ) {
    const end = content.indexOf("\n", start);
    const stop = end < 0 ? content.length : end;
    yield { place: `${file}:${++number}`, bytes: content.subarray(start, stop) };
    start = stop + 1;
  }
}

/** The fields of every line, and `rotated` of the first one in a file that rotation began. */
interface AuditLine {
  readonly time: string;
  readonly function: string;
  readonly outcome: "ok" | "error";
  readonly previous: string;
  readonly rotated?: unknown;
}

/** Reads a line. Returns `undefined` for one that the audit trail does not write. */
function readLine(bytes: Buffer): AuditLine | undefined {
  try {
    const line = JSON.parse(bytes.toString("utf8")) as Partial<AuditLine> | null;
    return isAuditLine(line) ? line : undefined;
  } catch {
    return undefined;
  }
}

const isAuditLine = (line: Partial<AuditLine> | null): line is AuditLine =>
  typeof line === "object" &&
  line !== null &&
  !Number.isNaN(Date.parse(String(line.time))) &&
  typeof line.function === "string" &&
  (line.outcome === "ok" || line.outcome === "error") &&
  /^sha256:[0-9a-f]{64}$/.test(String(line.previous));
