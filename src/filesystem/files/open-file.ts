import { closeSync, fstatSync, read, type Stats } from "node:fs";
import { promisify } from "node:util";
import { refuse } from "../../base/errors.ts";
import { type Attributes, readAttributes } from "../jail/attributes.ts";
import { mapErrno, refusalOfErrno } from "../jail/errno.ts";
import type { Jail, ReadTarget } from "../jail/folder.ts";
import type { Limit } from "./types.ts";

/** A regular file that is held open. Everything about it refers to the one file that was opened. */
export interface OpenFile {
  /** The stats at the moment when it was opened. */
  readonly stats: Stats;
  /** The descriptor, valid until it is closed. */
  readonly descriptor: number;
  /** Returns the result of `readAttributes`. */
  attributes(): Attributes | undefined;
  /**
   * Yields its bytes from `start` (default 0) up to its end, or up to a failure: io, or too-large if it has
   * grown over the limit. All pieces but the last have `pieceBytes` bytes. Each is invalid once the next is
   * requested.
   */
  pieces(start?: number): AsyncGenerator<Buffer>;
  /**
   * Like `pieces`, but from the end that it had when it was opened, with the place of each piece. The last
   * piece comes first.
   */
  piecesFromEnd(): AsyncGenerator<{ readonly piece: Buffer; readonly offset: number }>;
  /** Closes the file. It must be called, but not while pieces are being read. */
  close(): void;
}

export const pieceBytes = 256 * 1024;
/** The bytes of a piece of a file that appears to be smaller, or grows. */
const minPieceBytes = 4096;

/** Implements `Files.open`. */
export function openFile(jail: Jail, path: string, limit: Limit | undefined): OpenFile {
  using place = jail.resolveForRead(path);
  return openPlace(place, limit);
}

/** Like `openFile`, but for a known place. The opened file outlives the place. */
export function openPlace(
  place: Pick<ReadTarget, "requested" | "stats" | "open">,
  limit: Limit | undefined,
): OpenFile {
  const { requested: path } = place;
  if (!place.stats!.isFile()) throw refuse.notAFile(path);
  const descriptor = mapErrno(path, () => place.open());
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw refuse.notAFile(path);
    requireWithin(path, stats.size, limit);
    return {
      descriptor,
      stats,
      attributes: () => readAttributes(descriptor),
      pieces: (start = 0) => readPieces(descriptor, path, { start, limit, size: stats.size }),
      piecesFromEnd: () => readPiecesFromEnd(descriptor, path, stats.size),
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw refusalOfErrno(error, path);
  }
}

const readInBackground = promisify(read);

async function* readPieces(
  descriptor: number,
  path: string,
  { start, limit, size }: { start: number; limit: Limit | undefined; size: number },
): AsyncGenerator<Buffer> {
  // A whole piece for each of many small files would be most of the work of a copy.
  const buffer = Buffer.allocUnsafeSlow(Math.max(minPieceBytes, Math.min(size - start, pieceBytes)));
  for (let position = start; ; ) {
    const piece = await readPiece(descriptor, path, { buffer, position });
    if (piece.length === 0) return;
    position += piece.length;
    requireWithin(path, position, limit);
    yield piece;
  }
}

async function* readPiecesFromEnd(
  descriptor: number,
  path: string,
  size: number,
): AsyncGenerator<{ piece: Buffer; offset: number }> {
  const memory = Buffer.allocUnsafeSlow(pieceBytes);
  for (let end = size; end > 0; ) {
    const offset = Math.max(0, end - pieceBytes);
    const buffer = memory.subarray(0, end - offset);
    yield { piece: await readPiece(descriptor, path, { buffer, position: offset }), offset };
    end = offset;
  }
}

/** Reads the bytes of the file at `position` that exist and fit into `buffer`. */
async function readPiece(
  descriptor: number,
  path: string,
  { buffer, position }: { buffer: Buffer; position: number },
): Promise<Buffer> {
  try {
    const { bytesRead } = await readInBackground(descriptor, buffer, 0, buffer.length, position);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}

function requireWithin(path: string, bytes: number, limit: Limit | undefined): void {
  if (limit === undefined || bytes <= limit.bytes) return;
  throw refuse.tooLarge(path, limit, "read a smaller file, or ask the user to raise the limit");
}
