import { buildNfa } from "./nfa.ts";
import { type CodePointRange, GlobError, parseGlob } from "./parse.ts";

/**
 * Returns why a glob cannot match any path, and a replacement, or `undefined` if it can. Paths are relative
 * to `base`, a host path, and made of names other than "", `.` and `..`, with one "/" between two of them.
 * Throws a `GlobError` for a glob that does not compile.
 */
export function adviceAgainst(glob: string, base: string): string | undefined {
  if (canMatch(glob)) return undefined;
  const instead = respell(glob, base);
  return [
    "it can match nothing: globs are compared with paths relative to base_path,",
    'which never begin or end with "/" and never hold "//", "." or ".." as a name;',
    instead === undefined
      ? 'write it from base_path on, as in "**/secrets/**"'
      : `write ${JSON.stringify(instead)}`,
  ].join(" ");
}

/**
 * Returns a glob that separates names by backslashes, which escape what follows them, with slashes instead;
 * `undefined` for any other, and for a path with a drive or a computer.
 */
export function withSlashes(glob: string): string | undefined {
  const isSeparated = glob.includes("\\") && !glob.includes("/");
  // A name rarely begins with what a glob has to escape.
  if (!isSeparated || /\\[[\]{}?!#\s]|^!?(?:\p{L}:|\\\\)/u.test(glob)) return undefined;
  const instead = glob.replace(/\\+/g, "/");
  return compiles(instead) ? instead : undefined;
}

/** Returns the glob that its author probably means, if that can match anything. */
function respell(glob: string, base: string): string | undefined {
  const below = glob.startsWith(`${base}/`) ? glob.slice(base.length) : glob;
  const parts = below.split("/");
  const names: string[] = [];
  for (const part of parts) {
    if (part === ".." && names.length > 0) names.pop();
    else if (part !== "" && part !== ".") names.push(part);
  }
  if (parts.length > 1 && parts.at(-1) === "") names.push("**");
  const instead = names.join("/");
  return instead !== "" && compiles(instead) && canMatch(instead) ? instead : undefined;
}

function compiles(glob: string): boolean {
  try {
    parseGlob(glob);
    return true;
  } catch (error) {
    if (error instanceof GlobError) return false;
    throw error;
  }
}

/** The kind of the last name in a path read so far: empty, `.`, `..`, or a proper name. */
const lastNames = ["nothing", "dot", "two dots", "name"] as const;
type LastName = (typeof lastNames)[number];
type Kind = "slash" | "dot" | "other";

/** The transition for each kind of character; `undefined` if the result is not a path. */
const steps: Readonly<Record<LastName, Readonly<Record<Kind, LastName | undefined>>>> = {
  nothing: { slash: undefined, dot: "dot", other: "name" },
  dot: { slash: undefined, dot: "two dots", other: "name" },
  "two dots": { slash: undefined, dot: "name", other: "name" },
  name: { slash: "nothing", dot: "name", other: "name" },
};

/** Returns whether the automaton of the glob and that of paths accept a common text. */
function canMatch(glob: string): boolean {
  const { states, start } = buildNfa([[parseGlob(glob)]]);
  const name = (state: number, place: LastName) => state * lastNames.length + lastNames.indexOf(place);
  // Iteration over a Set includes elements added during it, so the set is its own work list.
  const reached = new Set([name(start, "nothing")]);
  for (const both of reached) {
    const place = lastNames[both % lastNames.length]!;
    const state = states[Math.floor(both / lastNames.length)]!;
    if ("fork" in state) for (const next of state.fork) reached.add(name(next, place));
    else {
      for (const kind of kindsIn(state.ranges)) {
        const further = steps[place][kind];
        if (further !== undefined) reached.add(name(state.next, further));
      }
    }
  }
  const accept = 0;
  return reached.has(name(accept, "name"));
}

/** Returns the kinds of characters in the ranges that occur in paths; NUL does not. */
function kindsIn(ranges: readonly CodePointRange[]): Kind[] {
  const has = (codePoint: number) => ranges.some(({ from, to }) => from <= codePoint && codePoint <= to);
  const others = ({ from, to }: CodePointRange) =>
    [0, dot, slash].filter((codePoint) => from <= codePoint && codePoint <= to).length < to - from + 1;
  return [
    ...(has(slash) ? (["slash"] as const) : []),
    ...(has(dot) ? (["dot"] as const) : []),
    ...(ranges.some(others) ? (["other"] as const) : []),
  ];
}

const dot = 0x2e;
const slash = 0x2f;
