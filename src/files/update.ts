import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import type { Deadline } from "../deadline.ts";
import { refuse } from "../errors.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { JailedPath, Place } from "../jail/folder.ts";
import type { Limit, Workbench } from "./files.ts";
import { readPlace } from "./read.ts";
import { replaceFile } from "./replace-file.ts";
import { requireReplaceable } from "./replaceable.ts";
import { inTurn } from "./turn.ts";

/** The content of a file, in pieces that follow each other. */
export type Content = readonly Buffer[];

/** Makes the new content out of the old. An equal one means that nothing is to be written. */
export type Change = (before: Buffer) => Buffer | Content | Promise<Buffer | Content>;

interface Update {
  readonly path: string;
  readonly change: Change;
}

/** A file before and after its update. */
export interface Bodies {
  readonly before: Buffer;
  readonly after: Content;
}

/** See `Files.update`. */
export async function updateFile(bench: Workbench, update: Update, deadline: Deadline): Promise<Bodies> {
  for (const isLastTry of [false, true]) {
    const bodies = await inTurn(bench, { path: update.path }, deadline, (place) =>
      updateAt(bench, update, { place, deadline }),
    );
    if (bodies !== undefined) return bodies;
    if (isLastTry) break;
  }
  throw refuse.changed(update.path);
}

/** Undefined when the file was changed by someone else before the new content could take its place. */
async function updateAt(
  { config }: Workbench,
  { path, change }: Update,
  { place, deadline }: { place: Place; deadline: Deadline },
): Promise<Bodies | undefined> {
  const limit = { key: "max_write_bytes", bytes: config.max_write_bytes };
  const owner = requireReplaceable(place);
  const seen = readVersion(place, limit);
  const before = seen.content;
  const made = await change(before);
  const after = made instanceof Uint8Array ? [made] : made;
  if (lengthOf(after) > limit.bytes)
    throw refuse.tooLarge(path, limit, "put in less, or split it over several files");
  if (isSame(before, after)) return { before, after };
  const mode = place.stats!.mode & 0o777;
  const draft = { folder: place.folder, content: after, mode, owner, fsync: config.fsync };
  try {
    await replaceFile(place, draft, deadline, (path) => requireVersion(path, seen));
  } catch (error) {
    if (errnoOf(error) === "ESTALE" || errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  return { before, after };
}

const lengthOf = (content: Content): number => content.reduce((length, piece) => length + piece.length, 0);

function isSame(before: Buffer, after: Content): boolean {
  if (before.length !== lengthOf(after)) return false;
  let at = 0;
  for (const piece of after) {
    if (!piece.equals(before.subarray(at, at + piece.length))) return false;
    at += piece.length;
  }
  return true;
}

/** A file as it was read. */
interface Version {
  /** Taken before the content was read. */
  readonly stats: BigIntStats;
  readonly content: Buffer;
}

function readVersion(place: Place, limit: Limit): Version {
  let stats: BigIntStats | undefined;
  const observe = (descriptor: number) => {
    stats = fstatSync(descriptor, { bigint: true });
  };
  const content = readPlace(place, limit, { observe });
  return { stats: stats!, content };
}

/**
 * Throws ESTALE unless the file at `path` is still what was read. The stats alone would not tell: file systems with
 * time stamps of whole seconds show no trace of a second change within one.
 */
function requireVersion(path: JailedPath, { stats, content }: Version): void {
  const now = lstatSync(path, { bigint: true });
  const isSame =
    now.ino === stats.ino &&
    now.dev === stats.dev &&
    now.size === stats.size &&
    now.mtimeNs === stats.mtimeNs &&
    now.ctimeNs === stats.ctimeNs;
  if (!isSame || !hasContent(path, content)) throw errnoError("ESTALE");
}

function hasContent(path: JailedPath, content: Buffer): boolean {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const piece = Buffer.allocUnsafe(Math.min(content.length + 1, largestPiece));
    for (let at = 0; ; ) {
      const read = readSync(descriptor, piece, 0, piece.length, at);
      if (!piece.subarray(0, read).equals(content.subarray(at, at + read))) return false;
      at += read;
      if (read < piece.length) return at === content.length;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Large enough to be read fast, and small enough to stay in the processor's cache. */
const largestPiece = 128 * 1024;
