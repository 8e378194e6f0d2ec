import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Place } from "../place.ts";

/** The bytes kept of the HMAC-SHA-256 that authenticates a cursor (RFC 2104, section 5). */
const macBytes = 16;
/** The bytes of line, column and rank, which precede the path. */
const positionBytes = 12;
/** The stored rank of a place without one. */
const unranked = -0x80000000;

/** Returns the maximum bytes of a cursor to a file whose path has `pathBytes` bytes. */
export const cursorBytes = (pathBytes: number): number =>
  Math.ceil(((macBytes + positionBytes + pathBytes) * 4) / 3);

/**
 * Converts places to cursors and back. A cursor depends on no state of this process except the key: it is
 * valid for one query, any number of times, for the lifetime of the process.
 */
export class Cursors {
  readonly #key = randomBytes(32);

  /** Returns the cursor to a place in the results of a query. */
  seal(query: string, { file, line, column, rank = unranked }: Place): string {
    const place = Buffer.alloc(positionBytes + file.length);
    place.writeUInt32BE(line, 0);
    place.writeUInt32BE(column, 4);
    place.writeInt32BE(rank, 8);
    place.write(file, positionBytes, "latin1");
    return Buffer.concat([this.#mac(query, place), place]).toString("base64url");
  }

  /** Returns the place of a cursor, or `undefined` unless this process made the cursor for this query. */
  open(query: string, cursor: string): Place | undefined {
    const bytes = Buffer.from(cursor, "base64url");
    if (bytes.length < macBytes + positionBytes || bytes.toString("base64url") !== cursor) return undefined;
    const place = bytes.subarray(macBytes);
    if (!timingSafeEqual(bytes.subarray(0, macBytes), this.#mac(query, place))) return undefined;
    const file = place.toString("latin1", positionBytes);
    const rank = place.readInt32BE(8);
    const position = { line: place.readUInt32BE(0), column: place.readUInt32BE(4) };
    return { file, ...position, ...(rank !== unranked && { rank }) };
  }

  #mac(query: string, place: Buffer): Buffer {
    const mac = createHmac("sha256", this.#key);
    return mac
      .update(`${Buffer.byteLength(query)}:${query}`)
      .update(place)
      .digest()
      .subarray(0, macBytes);
  }
}
