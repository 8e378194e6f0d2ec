/**
 * Places in the order of a search: files by path, and within a file by position. Paths that match fuzzily
 * come before all others, by rank.
 */

/** A position in a file: the match of its path comes first, then those in its contents by line and column. */
export interface Position {
  /** The line number, from 1 for a content match. */
  readonly line: number;
  readonly column: number;
}

export interface Place extends Position {
  /**
   * The path relative to the folder where the search starts, one character per byte, so that it sorts like
   * the walk. A folder's path ends with "/" and comes before everything in it.
   */
  readonly file: string;
  /** The score of a path that matches fuzzily. */
  readonly rank?: number | undefined;
}

export interface RankedPlace extends Place {
  readonly rank: number;
}

/**
 * Returns whether a path comes after another one by rank: it scores lower, or scores the same and is longer,
 * or sorts later.
 */
export function isRankedAfter(place: RankedPlace, other: RankedPlace): boolean {
  if (place.rank !== other.rank) return place.rank < other.rank;
  const longer = place.file.length - other.file.length;
  return longer === 0 ? place.file > other.file : longer > 0;
}

/** The place before every path. */
export const beforeRanked: RankedPlace = { file: "", rank: 0x7fffffff, line: 0, column: 0 };

/** The position before everything in a file. */
export const beforeFile: Position = { line: 0, column: 0 };

/** The position of the match of the path. */
export const atPath: Position = { line: 0, column: 1 };

/** The position after everything in a file. */
export const afterFile: Position = { line: 0xffffffff, column: 0 };

/** Returns whether the position comes after the other one, if any. */
export const isAfter = ({ line, column }: Position, other: Position | undefined): boolean =>
  other === undefined || line > other.line || (line === other.line && column > other.column);

/** Returns the start of `file`, or `other` if that comes later. */
export const laterPlace = (file: string, other: Place | undefined): Place =>
  other !== undefined && file <= other.file ? other : { file, ...beforeFile };
