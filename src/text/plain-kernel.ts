import { escapeBytes } from "./escape-bytes.ts";

/** Counts in the one piece of text that lies in it. Its users take turns: none keeps a piece while others may run. */
export interface JsonKernel {
  /** Where the piece lies: `pieceBytes`, and some more that the kernel writes to. */
  readonly piece: Buffer;
  /**
   * Line feeds in the first `length` bytes, and 65,536 more for each that a carriage return stands before; `before` is
   * the byte in front of the piece.
   */
  countEndings(length: number, before: number): number;
  /** Bytes that the first `length` take in a JSON string besides themselves. */
  countEscapes(length: number): number;
}

/** The kernel in JavaScript, for pieces of at most so many bytes. */
export function plainKernel(pieceBytes: number): JsonKernel {
  const piece = Buffer.alloc(pieceBytes + 16);
  const pairs = new Uint16Array(piece.buffer, piece.byteOffset, piece.length / 2);
  const escapes = pairEscapes();
  return {
    piece,
    countEndings(length, before) {
      let count = 0;
      for (let at = 0; at < length; at++) {
        if (piece[at] === 0x0a) count += (at === 0 ? before : piece[at - 1]) === 0x0d ? 0x1_0001 : 1;
      }
      return count;
    },
    countEscapes(length) {
      piece[length] = 0x20; // the other half of a last pair
      let count = 0;
      for (let at = 0; at < length / 2; at++) count += escapes[pairs[at]!]!;
      return count;
    },
  };
}

/** The same for each two bytes in a row. */
function pairEscapes(): Uint8Array {
  return Uint8Array.from(
    { length: 1 << 16 },
    (_, pair) => escapeBytes[pair & 0xff]! + escapeBytes[pair >> 8]!,
  );
}
