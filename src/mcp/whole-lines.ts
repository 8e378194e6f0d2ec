import { Transform } from "node:stream";

/**
 * Joins chunks to whole lines: the SDK's own buffer copies all its content for each chunk, which takes seconds for a large
 * message. Passes a line longer than `maxBytes` on unfinished, for the transport to refuse.
 */
export function wholeLines(maxBytes: number): Transform {
  let pieces: Buffer[] = [];
  let bytes = 0;
  return new Transform({
    transform(piece: Buffer, _, done) {
      const end = piece.lastIndexOf(0x0a) + 1;
      bytes += piece.length;
      if (end === 0 && bytes <= maxBytes) {
        pieces.push(piece);
        return done();
      }
      const cut = end === 0 ? piece.length : end;
      const lines = Buffer.concat([...pieces, piece.subarray(0, cut)]);
      pieces = cut < piece.length ? [piece.subarray(cut)] : [];
      bytes = piece.length - cut;
      done(null, lines);
    },
  });
}
