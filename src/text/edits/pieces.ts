/** Returns the pieces as one buffer, cut to `maxBytes`. A single piece is returned whole, without a copy. */
export function joinPieces(pieces: readonly Buffer[], maxBytes = Number.POSITIVE_INFINITY): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, Math.min(piecesLength(pieces), maxBytes));
}

export const piecesLength = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);
