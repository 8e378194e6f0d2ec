import * as crypto from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import type { JailedPath } from "../jail/folder.ts";

/** Bytes per piece, few enough to stay in the processor's cache. */
const pieceBytes = 128 * 1024;

/**
 * Returns `sha256:` and the digest, as lowercase hex, of the bytes of an opened file, or `undefined` if it is
 * not a regular file. Throws the errno error.
 */
export function revisionOf(descriptor: number): string | undefined {
  if (!fstatSync(descriptor).isFile()) return undefined;
  const hash = crypto.createHash("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ; ) {
    const read = readSync(descriptor, piece, 0, piece.length, at);
    if (read === 0) return `sha256:${hash.digest("hex")}`;
    hash.update(piece.subarray(0, read));
    at += read;
  }
}

/**
 * A function that Node has since 20.12. It makes no object, whose collection would cost as much as the digest
 * of a small file.
 */
const digestOnce: typeof crypto.hash | undefined = crypto.hash;

/** Like `revisionOf`, but for bytes in memory, in pieces. */
export function revisionOfBytes(pieces: readonly Uint8Array[]): string {
  if (digestOnce !== undefined && pieces.length === 1)
    return `sha256:${digestOnce("sha256", pieces[0]!, "hex")}`;
  const hash = crypto.createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return `sha256:${hash.digest("hex")}`;
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Like `revisionOf`, but for the file that currently has a name. */
export function revisionAt(path: JailedPath): string | undefined {
  const descriptor = openSync(path, readFlags);
  try {
    return revisionOf(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
