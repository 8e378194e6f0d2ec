import { accept, buildNfa } from "./nfa.ts";
import { type CodePointRange, GlobError, parseGlob } from "./parse.ts";

/**
 * Why a glob can match no path at all, and what to write instead; undefined for a glob that can. Paths are relative to
 * `base`, a host path, and made of names that are not empty, `.` or `..`, with one "/" between two of them. Throws a
 * `GlobError` for a glob that does not compile.
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

/** What the author probably means, if that can match anything. */
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

/** What the last name of a path holds so far: nothing, `.`, `..`, or what makes a name. */
const places = ["nothing", "dot", "two dots", "name"] as const;
type Place = (typeof places)[number];
type Kind = "slash" | "dot" | "other";

/** Where one character more leads; undefined where it makes no path. */
const steps: Readonly<Record<Place, Readonly<Record<Kind, Place | undefined>>>> = {
  nothing: { slash: undefined, dot: "dot", other: "name" },
  dot: { slash: undefined, dot: "two dots", other: "name" },
  "two dots": { slash: undefined, dot: "name", other: "name" },
  name: { slash: "nothing", dot: "name", other: "name" },
};

/** Whether the automaton of the glob and that of paths come to their ends on the same text. */
function canMatch(glob: string): boolean {
  const { states, start } = buildNfa([parseGlob(glob)]);
  const name = (state: number, place: Place) => state * places.length + places.indexOf(place);
  // A Set is iterated in insertion order, with what is added on the way: it is its own work list.
  const reached = new Set([name(start, "nothing")]);
  for (const both of reached) {
    const place = places[both % places.length]!;
    const state = states[Math.floor(both / places.length)]!;
    if ("fork" in state) for (const next of state.fork) reached.add(name(next, place));
    else {
      for (const kind of kindsIn(state.ranges)) {
        const further = steps[place][kind];
        if (further !== undefined) reached.add(name(state.next, further));
      }
    }
  }
  return reached.has(name(accept, "name"));
}

/** The kinds of characters that names of files and what stands between them are made of; NUL is none. */
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
