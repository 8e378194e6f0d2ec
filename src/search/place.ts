/** Places in the order of a search: by files in the order of their paths, in a file by positions. */

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
}

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
