/** Where the routines find what they look for: in the first page of the memory. */
export const layout = {
  /** Bytes of a folded string, and as many folds behind them. */
  string: 0,
  longestString: 1024,
  /** For each position of a shape, 256 bytes: of each byte, which forms of the shape may have it there. */
  shape: 4096,
  longestShape: 16,
  /** Two times sixteen bytes for each of the two positions that are compared first; then three for what starts a form. */
  tests: 8192,
  /** What `enclose` tells: three numbers of four bytes. */
  line: 8320,
  /** Of each byte, its class in the automaton. */
  classes: 8448,
  /** The automaton's rows: two bytes for each place. */
  rows: 16_384,
  mostPlaces: 24_576,
  /** In place of a row: the line is not ASCII. */
  foreign: 0xffff,
} as const;
