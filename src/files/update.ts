import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, renameSync } from "node:fs";
import type { Deadline } from "../deadline.ts";
import { refuse } from "../errors.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { JailedPath, Place } from "../jail/folder.ts";
import type { Limit, Workbench } from "./files.ts";
import { readAtMost, readPlace } from "./read.ts";
import { requireReplaceable } from "./replaceable.ts";
import { inTurn } from "./turn.ts";
import { writeAndPublish } from "./write.ts";

/** Makes the new content out of the old. The same Buffer, or an equal one, means that nothing is to be written. */
export type Change = (before: Buffer) => Buffer | Promise<Buffer>;

interface Update {
  readonly path: string;
  readonly change: Change;
}

interface Bodies {
  readonly before: Buffer;
  readonly after: Buffer;
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
  const after = await change(before);
  if (after.length > limit.bytes)
    throw refuse.tooLarge(path, limit, "put in less, or split it over several files");
  if (after.equals(before)) return { before, after: before };
  const mode = place.stats!.mode & 0o777;
  const draft = { folder: place.folder, content: after, mode, owner, fsync: config.fsync };
  try {
    await writeAndPublish(draft, deadline, (at, temporary) => {
      requireVersion(at(place.name), seen);
      renameSync(at(temporary), at(place.name));
    });
  } catch (error) {
    if (errnoOf(error) === "ESTALE" || errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  return { before, after };
}

/** A file as it was read. */
interface Version {
  /** Taken before the content was read. */
  readonly stats: BigIntStats;
  readonly content: Buffer;
}

function readVersion(place: Place, limit: Limit): Version {
  let stats: BigIntStats | undefined;
  const content = readPlace(place, limit, (descriptor) => {
    stats = fstatSync(descriptor, { bigint: true });
  });
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
    return readAtMost(descriptor, content.length, content.length + 1).equals(content);
  } finally {
    closeSync(descriptor);
  }
}
