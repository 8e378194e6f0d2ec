import type { PathFilter } from "../../search/walk/entry-filter.ts";
import { refuseFs } from "./fs-errors.ts";

/**
 * Compiles the globs of grep and sed (shell §8.6), which match paths relative to the start of the search. A
 * pattern without "/" matches the last name. `*` matches any bytes except "/", and `?` one byte except "/". A
 * component `**` matches any number of components, at the end at least one. No other character is special.
 */
export function compileShellGlobs(field: string, patterns: readonly string[]): PathFilter {
  const length = patterns.reduce((sum, pattern) => sum + pattern.length, 0);
  if (length > longest) throw refuseFs.longGlobs(field, longest);
  // Any number of empty globs is short enough.
  const compiled = [...new Set(patterns)].map((pattern) =>
    pattern.split("/").map((part) => Buffer.from(part)),
  );
  return {
    matches(path) {
      const names = path.split("/").map((name) => Buffer.from(name));
      return compiled.some((parts) =>
        matchesPath(parts, parts.length === 1 && !isNested(parts[0]!) ? names.slice(-1) : names),
      );
    },
  };
}

/** Returns the filters for paths relative to the base. `prefix` is the path where the search starts. */
export function filtersFor(
  { include, exclude }: { include: readonly string[]; exclude: readonly string[] },
  prefix: string,
): { include: PathFilter | undefined; exclude: PathFilter | undefined } {
  return {
    include: include.length === 0 ? undefined : below(prefix, compileShellGlobs("include_glob", include)),
    exclude: below(prefix, compileShellGlobs("exclude_glob", exclude)),
  };
}

const below = (prefix: string, filter: PathFilter): PathFilter => ({
  matches: (path) => filter.matches(path.slice(prefix.length)),
});

/** Maximum UTF-16 units of all patterns together. */
const longest = 8192;

const isNested = (part: Buffer): boolean => part.length === 2 && part[0] === star && part[1] === star;

/**
 * Returns whether the parts match all of the names. `reached[n]` says that the parts so far match the first n
 * names.
 */
function matchesPath(parts: readonly Buffer[], names: readonly Buffer[]): boolean {
  let reached = [true, ...names.map(() => false)];
  for (const [index, part] of parts.entries()) {
    const before = reached;
    reached = before.map(() => false);
    for (let n = 0; n <= names.length; n++) {
      if (isNested(part)) {
        const isLast = index === parts.length - 1;
        reached[n] = (!isLast && before[n]!) || (n > 0 && (before[n - 1]! || reached[n - 1]!));
      } else if (n > 0) reached[n] = before[n - 1]! && matchesName(part, names[n - 1]!);
    }
  }
  return reached[names.length]!;
}

const star = 0x2a;
const anyByte = 0x3f;

/** Backtracks only to the last `*`: an earlier one cannot match more than that one. */
function matchesName(pattern: Buffer, name: Buffer): boolean {
  let [p, n, lastStar, resume] = [0, 0, -1, 0];
  while (n < name.length) {
    if (pattern[p] === star) {
      lastStar = p++;
      resume = n;
    } else if (p < pattern.length && (pattern[p] === anyByte || pattern[p] === name[n])) {
      p++;
      n++;
    } else if (lastStar >= 0) {
      p = lastStar + 1;
      n = ++resume;
    } else return false;
  }
  while (pattern[p] === star) p++;
  return p === pattern.length;
}
