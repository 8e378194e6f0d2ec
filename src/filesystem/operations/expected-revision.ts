/** The state that a caller expects a file to have (coder §14). */
import { closeSync } from "node:fs";
import { refuse } from "../../base/errors.ts";
import type { Disk } from "../disk/disk.ts";
import { quickRevisionOf, revisionAt, revisionOf, revisionOfBytes } from "../files/revision.ts";
import { mapErrno } from "../jail/errno.ts";
import type { JailedPath, ResolvedPath } from "../jail/folder.ts";
import type { ExpectedFile } from "./writable-tree.ts";

/** The expectation that nothing exists. */
export const absent = "absent";

const form = /^sha256:[\da-f]{64}$/;

/** Throws bad-input unless `text` is a revision, or `absent` if that is allowed. */
export function requireRevisionForm(text: string, { mayBeAbsent = false } = {}): void {
  if (!form.test(text) && !(mayBeAbsent && text === absent)) throw refuse.badRevision(text, mayBeAbsent);
}

/**
 * Throws revision-mismatch unless the entry at `place` is a file with the revision `expected`, and too-large
 * for a file over the limit, since hashing a file blocks every other call.
 */
export function requireRevision(place: ResolvedPath, expected: string, { max_write_bytes }: Limits): void {
  if (!place.stats!.isFile()) throw refuse.notAFile(place.requested);
  const path = place.requested;
  const limit = { key: "max_write_bytes", bytes: max_write_bytes };
  if (place.stats!.size > limit.bytes)
    throw refuse.tooLarge(path, limit, "expect no revision of it, or ask the user to raise the limit");
  requireSame(revisionOfPlace(place), { path, expected });
}

/** Returns the revision of the regular file at `place`. Throws a refusal. */
export const revisionOfPlace = (place: ResolvedPath): string | undefined => hashPlace(place, revisionOf);

/** Like `revisionOfPlace`, but returns `undefined` if hashing the file at once would take long. */
export const quickRevisionOfPlace = (place: ResolvedPath): string | undefined =>
  hashPlace(place, quickRevisionOf);

function hashPlace(place: ResolvedPath, hash: typeof revisionOf): string | undefined {
  if (place.content !== undefined) return revisionOfBytes(place.content);
  const descriptor = mapErrno(place.requested, () => place.open());
  try {
    return mapErrno(place.requested, () => hash(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

type Limits = Pick<Disk["config"], "max_write_bytes">;

interface Expectation {
  /** The path as the caller sent it. */
  readonly path: string;
  readonly expected: string;
}

/** Like `requireRevision`, but for the file that currently has a name. Throws the errno error as well. */
export const requireRevisionAt = (at: JailedPath, expectation: Expectation): void =>
  requireSame(revisionAt(at), expectation);

/** Like `requireRevision`, but for an opened file. */
export const requireRevisionOf = (descriptor: number, expectation: Expectation): void =>
  requireSame(revisionOf(descriptor), expectation);

/** Returns a file that may be replaced if it has this revision. */
export const fileOfRevision = (expectation: Expectation): ExpectedFile => ({
  revision: expectation.expected,
  requireStats: () => {},
  requireContent: (at) => requireRevisionAt(at, expectation),
});

function requireSame(current: string | undefined, { path, expected }: Expectation): void {
  if (current !== expected) throw refuse.revisionMismatch(path, { path, expected, current });
}
