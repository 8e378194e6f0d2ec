/** Addresses of the routines' tables in the first two pages of the memory. */
export const layout = {
  /** Bytes of a folded string, followed by as many folds. */
  string: 0,
  maxStringLength: 1024,
  /**
   * For each position of Teddy's masks, 256 bytes: for each byte, the bits of the buckets that may have it
   * there.
   */
  buckets: 4096,
  maxTeddyLength: 16,
  /** Two vectors for each byte of the packed pair, then three for the first byte. */
  vectors: 8192,
  /** The result of `line_bounds`: three numbers of four bytes. */
  lineBounds: 8320,
  /** The result of `forward_exact` and `forward_folded`: two numbers of four bytes. */
  forwardMatch: 8336,
  /** For each byte, its class in the reverse DFA. */
  classes: 8448,
  /** The reverse DFA's transitions: two bytes each. */
  transitions: 16_384,
  maxTransitions: 24_576,
  /** Like `classes` and `transitions`, but of the forward DFA. */
  forwardClasses: 65_536,
  forwardTransitions: 65_792,
  /** The start of the text, after the tables. */
  text: 131_072,
  /** The value, in place of a state, for a line that is not ASCII. */
  nonAscii: 0xffff,
} as const;
