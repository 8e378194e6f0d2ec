/** Folders as linux_dirent64 records, the form in which the system gives them (getdents64(2)). */
import { type EntryKind, kindsByType } from "./kind.ts";

/**
 * Gets an entry of a folder: its name is `bytes[from, to)`, worthless afterwards. The kind is undefined where a
 * file system does not report kinds when a folder is read.
 */
export type OnDirent = (bytes: Buffer, from: number, to: number, kind: EntryKind | undefined) => void;

/** Where in a record its own length, its type and its name are; before them are an inode number and an offset. */
const [lengthAt, typeAt, nameAt] = [16, 18, 19];
/** Records are padded to this, so the NUL behind a name is in the last so many bytes. */
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
