import { buildAutomaton } from "./automaton.ts";
import { Matcher } from "./matcher.ts";
import { GlobError, parseGlob } from "./parse.ts";

export { GlobError };

/** Globs that are asked together. */
export interface GlobSet {
  /** Whether any of the globs matches the whole of `path`: relative to the base, "/" between its names. */
  matches(path: string): boolean;
  /** How many globs there are; a set of none matches nothing. */
  readonly size: number;
  /** The globs as they were given. */
  readonly patterns: readonly string[];
}

/** More than anyone writes, and little enough that globs made to be dear cost tens of milliseconds a path. */
const maxLength = 8192;

/**
 * Compiles globs of the dialect of Rust's `globset` with its default options, over code points (specification,
 * section 6). Throws a `GlobError`, whose message is a whole sentence naming the glob, for one that is malformed
 * (see `parseGlob`) or when the globs are longer than 8192 UTF-16 units together.
 */
export function compileGlobSet(patterns: readonly string[]): GlobSet {
  let length = 0;
  const sequences = patterns.map((pattern) => {
    length += pattern.length;
    if (length <= maxLength) return parseGlob(pattern);
    throw new GlobError(
      pattern,
      `makes the globs longer than ${maxLength} characters together`,
      "send fewer or shorter ones",
    );
  });
  const matcher = new Matcher(buildAutomaton(sequences));
  return { size: patterns.length, patterns, matches: (path) => matcher.matches(path) };
}
