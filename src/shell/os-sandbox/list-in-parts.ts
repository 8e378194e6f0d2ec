import { closeSync, constants, openSync } from "node:fs";
import type { OnDirent } from "../../filesystem/jail/dirents.ts";
import type { EntryKind } from "../../filesystem/jail/kind.ts";
import { readDirents } from "../../filesystem/jail/openat.ts";

export interface ListedEntry {
  /** The name. Bytes that are not UTF-8 are replaced in it, so no entry opens by such a name. */
  readonly name: string;
  /** The kind, or `undefined` if the file system reports none in directory entries. */
  readonly kind: EntryKind | undefined;
}

const listing = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Yields the entries of a folder in parts of some thousand at most, because a folder may have very many.
 * Yields no entries of a link, nor of a folder that cannot be read, so nothing in it is granted. The folder
 * stays open until the last part. Needs a runtime that can call libc, without which nothing is confined.
 */
export function* listInParts(path: string): Generator<readonly ListedEntry[], void, void> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, listing);
    let part: ListedEntry[] = [];
    const onDirent: OnDirent = (bytes, from, to, kind) => {
      part.push({ name: bytes.toString("utf8", from, to), kind });
    };
    for (let from: "start" | "next" = "start"; ; from = "next") {
      const read = readDirents({ descriptor, from, endOffset: undefined }, onDirent);
      yield part;
      if (read !== "more") return;
      part = [];
    }
  } catch {
    // The folder has gone, or the rest of it cannot be read.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
