/** Parses linux_dirent64 records, which getdents64(2) returns. */
import { type EntryKind, kindsByType } from "./kind.ts";

/**
 * Gets an entry of a folder: its name is `bytes[from, to)`, valid only during the call. The kind is undefined where a
 * file system reports none in directory entries.
 */
export type OnDirent = (bytes: Buffer, from: number, to: number, kind: EntryKind | undefined) => void;

/** Offsets of the length, the type and the name in a record, after an inode number and an offset. */
const [lengthAt, typeAt, nameAt] = [16, 18, 19];
/** Records are padded to this many bytes, so the NUL after a name is among the last ones. */
const alignment = 8;

/** Reports the entries of the records in `records[0, length)`, without the folder itself and its parent. */
export function parseDirents(records: Buffer, length: number, onDirent: OnDirent): void {
  for (let at = 0; at < length; ) {
    const next = at + records[at + lengthAt]! + records[at + lengthAt + 1]! * 256;
    const from = at + nameAt;
    let to = Math.max(from, next - alignment);
    while (records[to] !== 0) to++;
    if (!isSelfOrParent(records, from, to)) onDirent(records, from, to, kindsByType[records[at + typeAt]!]);
    at = next;
  }
}

const dot = 0x2e;

/** Whether the name in `bytes[from, to)` is "." or "..". */
export const isSelfOrParent = (records: Buffer, from: number, to: number): boolean =>
  records[from] === dot && (to - from === 1 || (to - from === 2 && records[from + 1] === dot));
