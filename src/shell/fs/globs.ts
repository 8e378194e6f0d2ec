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
  const compiled = [...new Set(patterns)].map((pattern) => pattern.split("/").map(compilePart));
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

/** A component of a glob: any number of components, or a test of one name. */
type Part = "**" | ((name: Buffer) => boolean);

const isNested = (part: Part): part is "**" => part === "**";

const compilePart = (part: string): Part => (part === "**" ? part : compileName(Buffer.from(part)));

/**
 * Returns whether the parts match all of the names. `reached[n]` says that the parts so far match the first n
 * names.
 */
function matchesPath(parts: readonly Part[], names: readonly Buffer[]): boolean {
  let reached = [true, ...names.map(() => false)];
  for (const [index, part] of parts.entries()) {
    const before = reached;
    reached = before.map(() => false);
    const isLast = index === parts.length - 1;
    for (let n = isLast ? lastStart(part, names) : 0; n <= names.length; n++) {
      if (isNested(part)) {
        reached[n] = (!isLast && before[n]!) || (n > 0 && (before[n - 1]! || reached[n - 1]!));
      } else if (n > 0) reached[n] = before[n - 1]! && part(names[n - 1]!);
    }
  }
  return reached[names.length]!;
}

/** Returns the first number of names to consider for the last part: a test of one name is for the last. */
const lastStart = (part: Part, names: readonly Buffer[]): number => (isNested(part) ? 0 : names.length);

const star = 0x2a;
const anyByte = 0x3f;

/**
 * Compiles a name with wildcards to bit sets of states (the Shift-And algorithm): state n says that the first
 * n bytes of the pattern without its stars match. So each byte of a name takes one operation for 32 bytes of
 * the pattern, whatever repeats in both.
 */
function compileName(pattern: Buffer): (name: Buffer) => boolean {
  if (!pattern.includes(star) && !pattern.includes(anyByte)) return (name) => name.equals(pattern);
  const bytes = pattern.filter((byte) => byte !== star);
  const last = bytes.length;
  if (last === 0) return () => true;
  const words = (last >>> 5) + 1;
  const emptySet = () => new Int32Array(words);
  const add = (set: Int32Array, state: number) => {
    set[state >>> 5]! |= 1 << (state & 31);
  };
  // The states that a star keeps, and those that a byte takes to the next one.
  const kept = emptySet();
  const byAny = emptySet();
  let stars = 0;
  for (const [index, byte] of pattern.entries()) if (byte === star) add(kept, index - stars++);
  for (const [state, byte] of bytes.entries()) if (byte === anyByte) add(byAny, state);
  const taken: Int32Array[] = Array(256).fill(byAny);
  for (const byte of new Set(bytes)) taken[byte] = byAny.slice();
  for (const [state, byte] of bytes.entries()) add(taken[byte]!, state);
  const states = emptySet();
  return (name) => {
    states.fill(0);
    states[0] = 1;
    for (let at = 0; at < name.length; at++) {
      const moving = taken[name[at]!]!;
      let carry = 0;
      for (let word = 0; word < words; word++) {
        const before = states[word]!;
        const moved = before & moving[word]!;
        states[word] = (before & kept[word]!) | (moved << 1) | carry;
        carry = moved >>> 31;
      }
    }
    return ((states[last >>> 5]! >>> (last & 31)) & 1) === 1;
  };
}
