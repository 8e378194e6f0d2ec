/** Folders as linux_dirent64 records, the form in which the system gives them (getdents64(2)). */
import { type EntryKind, kindsByType } from "./kind.ts";

/** An entry of a folder, as the system tells it. */
export interface Dirent {
  /** One character per byte. */
  readonly name: string;
  /** Undefined where a file system does not tell kinds when a folder is read. */
  readonly kind: EntryKind | undefined;
}

/** Where in a record its own length, its type and its name are; before them are an inode number and an offset. */
const [lengthAt, typeAt, nameAt] = [16, 18, 19];
/** Records are padded to this, so the NUL behind a name is in the last so many bytes. */
const alignment = 8;

/** Adds the entries of the records in `records[0, length)` to `dirents`, without the folder itself and its parent. */
export function parseDirents(records: Buffer, length: number, dirents: Dirent[]): void {
  for (let at = 0; at < length; ) {
    const next = at + records[at + lengthAt]! + records[at + lengthAt + 1]! * 256;
    let end = Math.max(at + nameAt, next - alignment);
    while (records[end] !== 0) end++;
    if (!isSelfOrParent(records, at + nameAt, end)) {
      const name = records.toString("latin1", at + nameAt, end);
      dirents.push({ name, kind: kindsByType[records[at + typeAt]!] });
    }
    at = next;
  }
}

const dot = 0x2e;

const isSelfOrParent = (records: Buffer, from: number, to: number): boolean =>
  records[from] === dot && (to - from === 1 || (to - from === 2 && records[from + 1] === dot));
