import { escapeBytes } from "./escape-bytes.ts";

/** Counts bytes in its one chunk of text. Callers must not keep the chunk across an `await`. */
export interface JsonKernel {
  /** The chunk, and some more bytes that the kernel writes to. */
  readonly chunk: Buffer;
  /**
   * Counts line feeds in the first `length` bytes, plus 65,536 for each after a carriage return. `before` is
   * the byte before the chunk.
   */
  countEndings(length: number, before: number): number;
  /** Returns the bytes that escapes add to the first `length` in a JSON string. */
  countEscapes(length: number): number;
}

/** Creates the kernel in JavaScript, for chunks of at most `chunkBytes` bytes. */
export function plainKernel(chunkBytes: number): JsonKernel {
  const chunk = Buffer.alloc(chunkBytes + 16);
  const pairs = new Uint16Array(chunk.buffer, chunk.byteOffset, chunk.length / 2);
  const escapes = pairEscapes();
  return {
    chunk,
    countEndings(length, before) {
      let count = 0;
      for (let at = 0; at < length; at++) {
        if (chunk[at] === 0x0a) count += (at === 0 ? before : chunk[at - 1]) === 0x0d ? 0x1_0001 : 1;
      }
      return count;
    },
    countEscapes(length) {
      chunk[length] = 0x20; // completes the last pair
      let count = 0;
      for (let at = 0; at < length / 2; at++) count += escapes[pairs[at]!]!;
      return count;
    },
  };
}

/**
 * Returns the bytes that escapes add to each pair of bytes. Every start of the program makes this table:
 * copying its rows takes a fiftieth of the time of computing its entries.
 */
function pairEscapes(): Uint8Array {
  const table = new Uint8Array(1 << 16);
  for (let high = 0; high < 256; high++) {
    const added = escapeBytes[high]!;
    table.set(added === 0 ? escapeBytes : escapeBytes.map((low) => low + added), high << 8);
  }
  return table;
}
