import { Transform } from "node:stream";

/** The bytes at the beginning and at the end of a line that are passed on if it is too long. */
const headBytes = 1024;
const tailBytes = 256;

/** Maximum pieces that are joined at once, as a million of a byte would take half a second. */
const maxPieces = 4096;

/** Maximum bytes of chunks that are taken in one turn of the event loop. */
const maxBytesOfTurn = 256 * 1024;

/**
 * Joins chunks to whole lines. The SDK's own buffer copies all its content for each chunk, which takes
 * seconds for a large message. A line longer than `maxBytes` is shortened to its beginning and its end,
 * without a newline, for the transport to refuse. Bun reads a pipe in one turn of the event loop for as long
 * as its writer fills it, so after some chunks the source has to wait for the next turn.
 */
export function wholeLines(maxBytes: number): Transform {
  let pieces: Buffer[] = [];
  /** The pieces before these, joined by the thousand. */
  let blocks: Buffer[] = [];
  let bytes = 0;
  let isTooLong = false;
  let bytesSincePause = 0;
  const takeAll = (last: Buffer): Buffer => {
    const all = Buffer.concat([...blocks, ...pieces, last]);
    [blocks, pieces] = [[], []];
    bytes = 0;
    return all;
  };
  /** Drops the middle of a line that is too long. */
  const shorten = (piece: Buffer) => {
    const all = takeAll(piece);
    const isShort = all.length <= headBytes + tailBytes;
    // Copies, so that the rest is freed.
    const ends = [all.subarray(0, headBytes), all.subarray(-tailBytes)];
    pieces = isShort ? [all] : ends.map((end) => Buffer.from(end));
  };
  const lines = new Transform({
    transform(piece: Buffer, _, done) {
      take(piece);
      bytesSincePause += piece.length;
      if (bytesSincePause < maxBytesOfTurn) return done();
      bytesSincePause = 0;
      setImmediate(done);
    },
  });
  function take(piece: Buffer): void {
    let rest = piece;
    if (isTooLong) {
      const end = rest.indexOf(0x0a);
      shorten(end === -1 ? rest : rest.subarray(0, end));
      if (end === -1) return;
      lines.push(takeAll(Buffer.alloc(0)));
      isTooLong = false;
      rest = rest.subarray(end + 1);
    }
    const end = rest.lastIndexOf(0x0a) + 1;
    if (end > 0) lines.push(takeAll(rest.subarray(0, end)));
    if (end < rest.length) {
      pieces.push(rest.subarray(end));
      bytes += rest.length - end;
      if (pieces.length === maxPieces) {
        blocks.push(Buffer.concat(pieces));
        pieces = [];
      }
    }
    isTooLong = bytes > maxBytes;
    if (isTooLong) shorten(Buffer.alloc(0));
  }
  return lines;
}
