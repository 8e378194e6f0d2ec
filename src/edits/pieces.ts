/** Returns the pieces as one buffer, cut to `mostBytes`. A single piece is returned whole, without a copy. */
export function joinPieces(pieces: readonly Buffer[], mostBytes = Number.POSITIVE_INFINITY): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, Math.min(piecesLength(pieces), mostBytes));
}

export const piecesLength = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);
