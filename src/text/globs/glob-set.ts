import { LazyDfa } from "./lazy-dfa.ts";
import { buildNfa } from "./nfa.ts";
import { GlobError, parseGlob } from "./parse.ts";

export { GlobError };

/** A set of globs that are matched together. */
export interface GlobSet {
  /**
   * Returns whether any of the globs matches all of `path`, which is relative to the base with "/" between
   * its names.
   */
  matches(path: string): boolean;
  /**
   * Like `matches`, but for the path of `name` in the folder at `folder`, "" for the base. This is faster for
   * many names of one folder.
   */
  matchesIn(folder: string, name: string): boolean;
  /** Returns whether a glob matches the path of these names, or that of a folder above it. */
  matchesOnWay(names: readonly string[]): boolean;
  /** Like `matchesIn`, but for the name in `bytes[from, to)`, in which U+FFFD stands for invalid UTF-8. */
  matchesBytesIn(folder: string, bytes: Buffer, from: number, to: number): boolean;
  /** The number of globs. An empty set matches nothing. */
  readonly size: number;
  /** The globs as written in the configuration or the request. */
  readonly patterns: readonly string[];
}

/** Maximum UTF-16 units of all globs of a set together, more than users and callers need. */
export const maxSetUnits = { ofOperator: 8192, ofCaller: 4096 } as const;

/**
 * Compiles globs of the dialect of Rust's `globset` with its default options, over code points (coder §6).
 * Throws a `GlobError`, whose message is a whole sentence naming the glob, if one is malformed (see
 * `parseGlob`) or if the globs are longer than `longest` together, which bounds the time that a path takes.
 */
export function compileGlobSet(
  patterns: readonly string[],
  longest: number = maxSetUnits.ofOperator,
): GlobSet {
  let length = 0;
  const sequences = patterns.map((pattern) => {
    length += pattern.length;
    if (length <= longest) return parseGlob(pattern);
    throw new GlobError(
      pattern,
      `makes the globs longer than ${longest} characters together`,
      "send fewer or shorter ones",
    );
  });
  const matcher = new LazyDfa(buildNfa([sequences]));
  return {
    size: patterns.length,
    patterns,
    matches: (path) => matcher.matches(path),
    matchesOnWay: (names) => matcher.matchesOnWay(names),
    matchesIn: (folder, name) => matcher.matchesIn(folder, name),
    matchesBytesIn: (folder, bytes, from, to) => matcher.matchesBytesIn(folder, bytes, from, to),
  };
}
