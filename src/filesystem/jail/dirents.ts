/** Parses linux_dirent64 records, which getdents64(2) returns. */
import { type EntryKind, kindsByType } from "./kind.ts";

/**
 * Receives an entry of a folder. Its name is `bytes[from, to)`, valid only during the call. The kind is
 * `undefined` if the file system reports none in directory entries.
 */
export type OnDirent = (bytes: Buffer, from: number, to: number, kind: EntryKind | undefined) => void;

/** The offsets in a record of the next record's offset, the length, the type and the name. */
const [offsetAt, lengthAt, typeAt, nameAt] = [8, 16, 18, 19];
/** The padding of records in bytes. The NUL after a name is within the last ones. */
const alignment = 8;

/**
 * Reports the entries of the records in `records[0, length)`, without the folder itself and its parent.
 * Returns the position of the last record.
 */
export function parseDirents(records: Buffer, length: number, onDirent: OnDirent): number {
  let last = 0;
  for (let at = 0; at < length; ) {
    last = at;
    const next = at + records[at + lengthAt]! + records[at + lengthAt + 1]! * 256;
    const from = at + nameAt;
    let to = Math.max(from, next - alignment);
    while (records[to] !== 0) to++;
    if (!isSelfOrParent(records, from, to)) onDirent(records, from, to, kindsByType[records[at + typeAt]!]);
    at = next;
  }
  return last;
}

/** Returns the offset for reading the entries after the record at `at`. */
export const offsetAfter = (records: Buffer, at: number): bigint => records.readBigInt64LE(at + offsetAt);

const dot = 0x2e;

/** Returns whether the name in `bytes[from, to)` is "." or "..". */
export const isSelfOrParent = (records: Buffer, from: number, to: number): boolean =>
  records[from] === dot && (to - from === 1 || (to - from === 2 && records[from + 1] === dot));
