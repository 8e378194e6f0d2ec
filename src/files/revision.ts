import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { JailedPath } from "../jail/folder.ts";

/** Small enough to stay in the processor's cache. */
const pieceBytes = 128 * 1024;

/**
 * `sha256:` and the digest of the bytes of an opened file, as lower-case hex; undefined for what is no regular file.
 * Throws the errno error.
 */
export function revisionOf(descriptor: number): string | undefined {
  if (!fstatSync(descriptor).isFile()) return undefined;
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ; ) {
    const read = readSync(descriptor, piece, 0, piece.length, at);
    if (read === 0) return `sha256:${hash.digest("hex")}`;
    hash.update(piece.subarray(0, read));
    at += read;
  }
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The same of the file that has a name now. */
export function revisionAt(path: JailedPath): string | undefined {
  const descriptor = openSync(path, readFlags);
  try {
    return revisionOf(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
