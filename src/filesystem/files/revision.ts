import * as crypto from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { runAtOnce, type Steps, type TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { JailedPath } from "../jail/folder.ts";
import { hasNoWriter } from "../jail/stamps.ts";

/** Bytes per piece, few enough to stay in the processor's cache. */
const pieceBytes = 128 * 1024;
/** Bytes per piece of a small file, which may have grown. */
const leastPiece = 4 * 1024;

/**
 * Returns `sha256:` and the digest, as lowercase hex, of the bytes of an opened file, or `undefined` if it is
 * not a regular file. Throws the errno error.
 */
export const revisionOf = (descriptor: number): string | undefined => runAtOnce(revisionInSteps(descriptor));

/** Like `revisionOf`, in steps, so that hashing a large file keeps no other call waiting. */
export function* revisionInSteps(descriptor: number): Steps<string | undefined> {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) return undefined;
  const known = isLarge(stats) ? knownFiles.get(stampsOf(descriptor)) : undefined;
  if (known !== undefined) return known;
  const hash = crypto.createHash("sha256");
  const piece = Buffer.allocUnsafe(Math.min(Math.max(stats.size + 1, leastPiece), pieceBytes));
  for (let at = 0; ; ) {
    const read = readSync(descriptor, piece, 0, piece.length, at);
    if (read === 0) return `sha256:${hash.digest("hex")}`;
    hash.update(piece.subarray(0, read));
    at += read;
    yield;
  }
}

/**
 * Maximum bytes of a file that one step hashes and copies to the journal although neither was done ahead.
 * That takes 30 ms, and 15 more.
 */
export const largestAtOnce = 32 * 1024 * 1024;

/** Like `revisionOf`, but returns `undefined` instead of hashing more than `largestAtOnce` bytes. */
export function quickRevisionOf(descriptor: number): string | undefined {
  const { size } = fstatSync(descriptor);
  return size > largestAtOnce ? knownFiles.get(stampsOf(descriptor)) : revisionOf(descriptor);
}

/** Returns whether an opened file was hashed ahead, and has not changed since. */
export const isHashedAhead = (descriptor: number): boolean => knownFiles.has(stampsOf(descriptor));

/** Returns whether hashing a file takes 3 ms and more: too long for a single step. */
export const isLarge = ({ size }: { readonly size: number }): boolean => size >= largeBytes;
const largeBytes = 4 * 1024 * 1024;

/**
 * The revisions of the large files that were hashed ahead last, by their stamps. A step concerns at most two
 * files, and other calls may hash theirs before it is made.
 */
const knownFiles = new Map<string, string>();
const maxKnownFiles = 16;

function noteFile(stamps: string, revision: string): void {
  knownFiles.set(stamps, revision);
  if (knownFiles.size > maxKnownFiles) knownFiles.delete(knownFiles.keys().next().value!);
}

/** Returns the facts that change with an opened file, if it is settled. */
export const stampsOf = (descriptor: number): string => {
  const { dev, ino, size, mtimeNs, ctimeNs } = fstatSync(descriptor, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
};

/** Minimum age of a change in milliseconds, so that the next one gets another time. */
const settledMilliseconds = 100;

/**
 * Hashes a large file in slices. A step that follows gets its revision from `revisionOf` without hashing it
 * again. `read` opens the file for one slice. Gives up if the file was changed just now or is changed in the
 * process, or if another program may be writing to it. For a very large file that was changed just now, it
 * first waits up to 100 ms.
 */
export async function hashAhead(
  read: <T>(use: (descriptor: number) => T) => T | undefined,
  slice: TimeSlice,
): Promise<void> {
  const unsettled = read((descriptor) => {
    if (knownFiles.has(stampsOf(descriptor))) return undefined;
    const { size, ctimeMs } = fstatSync(descriptor);
    return size <= largestAtOnce ? 0 : ctimeMs + settledMilliseconds - Date.now();
  });
  if (unsettled === undefined) return;
  if (unsettled > 0) {
    await setTimeout(Math.min(unsettled, settledMilliseconds) + 1);
    await slice.yieldIfDue();
  }
  const hash = crypto.createHash("sha256");
  const piece = Buffer.allocUnsafe(pieceBytes);
  let stamps: string | undefined;
  let at = 0;
  const hashSlice = (descriptor: number): boolean => {
    const { ctimeMs } = fstatSync(descriptor);
    const now = stampsOf(descriptor);
    const isStill = Date.now() - ctimeMs > settledMilliseconds && (stamps ?? now) === now;
    if (!isStill || !hasNoWriter(descriptor)) return false;
    stamps = now;
    do {
      const length = readSync(descriptor, piece, 0, piece.length, at);
      hash.update(piece.subarray(0, length));
      at += length;
      if (length > 0) continue;
      if (stampsOf(descriptor) === now) noteFile(stamps, `sha256:${hash.digest("hex")}`);
      return false;
    } while (!slice.isDue);
    return true;
  };
  while (read(hashSlice)) await slice.yieldIfDue();
}

/**
 * A function that Node has since 20.12. It makes no object, whose collection would cost as much as the digest
 * of a small file.
 */
const digestOnce: typeof crypto.hash | undefined = crypto.hash;

/** The revisions of large contents in memory that were hashed in slices. */
const knownContents = new WeakMap<Uint8Array, string>();

/** Notes the revision of a content that nothing changes, so that no step hashes it again. */
export function noteRevision(content: Uint8Array, revision: string): void {
  knownContents.set(content, revision);
}

/** Like `revisionOf`, but for bytes in memory, in pieces. */
export function revisionOfBytes(pieces: readonly Uint8Array[]): string {
  const [first] = pieces;
  const noted = pieces.length === 1 && isLarge({ size: first!.length }) && knownContents.get(first!);
  if (noted) return noted;
  if (digestOnce !== undefined && pieces.length === 1)
    return `sha256:${digestOnce("sha256", pieces[0]!, "hex")}`;
  const hash = crypto.createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return `sha256:${hash.digest("hex")}`;
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Like `revisionOf`, but for the file that currently has a name. */
export const revisionAt = (path: JailedPath): string | undefined => withFile(path, revisionOf);

/** Like `quickRevisionOf`, but for the file that currently has a name. */
export const quickRevisionAt = (path: JailedPath): string | undefined => withFile(path, quickRevisionOf);

function withFile<T>(path: JailedPath, use: (descriptor: number) => T): T {
  const descriptor = openSync(path, readFlags);
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
