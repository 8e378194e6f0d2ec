import { closeSync, fstatSync, read, type Stats } from "node:fs";
import { promisify } from "node:util";
import { refuse } from "../errors.ts";
import { type Attributes, readAttributes } from "../jail/attributes.ts";
import { mapErrno, refusalOfErrno } from "../jail/errno.ts";
import type { Jail } from "../jail/folder.ts";
import type { Limit } from "./types.ts";

/** A regular file that is held open. Everything about it is of the one file that was opened. */
export interface OpenFile {
  /** As it was when it was opened. */
  readonly stats: Stats;
  /** See `readAttributes`. */
  attributes(): Attributes | undefined;
  /** Its bytes up to its end, or up to a failure: io, or too-large when it has grown over the limit meanwhile. */
  pieces(): AsyncGenerator<Buffer>;
  /** Must be called, and not while `pieces` is reading. */
  close(): void;
}

const pieceBytes = 256 * 1024;

/** See `Files.open`. */
export function openFile(jail: Jail, path: string, limit: Limit | undefined): OpenFile {
  using place = jail.resolveForRead(path);
  if (!place.stats!.isFile()) throw refuse.notAFile(path);
  const descriptor = mapErrno(path, () => place.open());
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw refuse.notAFile(path);
    requireWithin(path, stats.size, limit);
    return {
      stats,
      attributes: () => readAttributes(descriptor),
      pieces: () => readPieces(descriptor, path, limit),
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw refusalOfErrno(error, path);
  }
}

const readInBackground = promisify(read);

/** Each piece is worthless once the next is asked for. */
async function* readPieces(
  descriptor: number,
  path: string,
  limit: Limit | undefined,
): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(pieceBytes);
  for (let position = 0; ; ) {
    const { bytesRead } = await readInBackground(descriptor, buffer, 0, pieceBytes, position).catch(
      (error: unknown) => {
        throw refusalOfErrno(error, path);
      },
    );
    if (bytesRead === 0) return;
    position += bytesRead;
    requireWithin(path, position, limit);
    yield buffer.subarray(0, bytesRead);
  }
}

function requireWithin(path: string, bytes: number, limit: Limit | undefined): void {
  if (limit === undefined || bytes <= limit.bytes) return;
  throw refuse.tooLarge(path, limit, "read a smaller file, or ask the operator to raise the limit");
}
