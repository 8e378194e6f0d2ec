/**
 * Places in the order of a search: by files in the order of their paths, in a file by positions. Paths that match fuzzily come
 * before all of these, in the order of their ranks.
 */

/** A position in a file: its path comes first, then the matches in its contents by line and column. */
export interface Position {
  /** From 1 for a match in contents. */
  readonly line: number;
  readonly column: number;
}

export interface Place extends Position {
  /**
   * The path from the folder where the search starts, one character per byte: its order is that of the walk. One that
   * ends with "/" is a folder's, before everything in it.
   */
  readonly file: string;
  /** Of a path that matches fuzzily: how well it does. */
  readonly rank?: number | undefined;
}

export interface RankedPlace extends Place {
  readonly rank: number;
}

/** Whether a path comes after another one by rank: it matches less well, or as well and is longer, or comes later. */
export function isRankedAfter(place: RankedPlace, other: RankedPlace): boolean {
  if (place.rank !== other.rank) return place.rank < other.rank;
  const longer = place.file.length - other.file.length;
  return longer === 0 ? place.file > other.file : longer > 0;
}

/** Before every path. */
export const beforeRanked: RankedPlace = { file: "", rank: 0x7fffffff, line: 0, column: 0 };

/** Before everything in a file. */
export const beforeFile: Position = { line: 0, column: 0 };

/** The match of the path. */
export const atPath: Position = { line: 0, column: 1 };

/** After everything in a file. */
export const afterFile: Position = { line: 0xffffffff, column: 0 };

/** Whether the position comes after the other one; everything comes after none. */
export const isAfter = ({ line, column }: Position, other: Position | undefined): boolean =>
  other === undefined || line > other.line || (line === other.line && column > other.column);

/** The later of two places, of which the first is before everything in its file. */
export const laterPlace = (file: string, other: Place | undefined): Place =>
  other !== undefined && file <= other.file ? other : { file, ...beforeFile };
