/**
 * The globs of a call, in the dialect of ripgrep's `-g` (coder §6): lines of ignore files that select instead
 * of ignore.
 */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { NameBytes } from "../../filesystem/jail/name.ts";
import { GlobError, maxSetUnits } from "../../text/globs/glob-set.ts";
import { type FolderTrail, LazyDfa } from "../../text/globs/lazy-dfa.ts";
import { buildNfa } from "../../text/globs/nfa.ts";
import type { StateSet } from "../../text/globs/nfa-simulator.ts";
import { parseGlob } from "../../text/globs/parse.ts";
import { withSlashes } from "../../text/globs/unmatchable.ts";
import { costOf } from "./ignore-file.ts";
import { parseLine, type Rule } from "./rule.ts";

/** A glob that has matched no file. */
export interface UnmatchedGlob {
  readonly list: "include" | "exclude";
  readonly glob: string;
  /** The glob that is probably meant, if its names are separated by backslashes. */
  readonly instead: string | undefined;
  /** Whether it has matched folders, and includes nothing because their contents do not match. */
  readonly onlyFolders: boolean;
}

/** Selects files, and the folders that a walk enters. It remembers which globs have matched. */
export class PathGlobs {
  readonly include: GlobList;
  readonly exclude: GlobList;

  private constructor(include: GlobList, exclude: GlobList) {
    this.include = include;
    this.exclude = exclude;
  }

  /** Returns `undefined` if both lists are empty. */
  static of(include: GlobList, exclude: GlobList): PathGlobs | undefined {
    return include.size + exclude.size === 0 ? undefined : new PathGlobs(include, exclude);
  }

  /** Follows the trails to the folder at `path` from the base (`LazyDfa.follow`). */
  *follow(path: string): Steps<void> {
    yield* this.include.follow(path);
    yield* this.exclude.follow(path);
  }

  /** Returns whether the file with this name in the folder at `path` from the base is selected. */
  takesFile(path: string, name: NameBytes): boolean {
    const included = this.include.match(path, name, false);
    if (this.exclude.match(path, name, false) === "matched") return false;
    return included === undefined ? !this.include.hasPlain : included === "matched";
  }

  /** Returns whether anything in the folder with this name may be selected. */
  entersFolder(path: string, name: NameBytes): boolean {
    const included = this.include.match(path, name, true);
    return this.exclude.match(path, name, true) !== "matched" && included !== "taken back";
  }

  /** Returns whether included globs may match something below the folder with this name. */
  mayTakeBelow(path: string, { bytes, from, to }: NameBytes): boolean {
    const name = bytes.toString("utf8", from, to);
    return this.include.mayMatchBelow(path === "" ? name : `${path}/${name}`);
  }

  /** Returns whether a walk from the base would select the file, or enter the folder, at `path`. */
  takes(path: string, isFolder: boolean): boolean {
    const names = path.split("/");
    return names.every((text, depth) => {
      const bytes = Buffer.from(text);
      const name = { bytes, from: 0, to: bytes.length };
      const above = names.slice(0, depth).join("/");
      const isLast = depth === names.length - 1;
      return isLast && !isFolder ? this.takesFile(above, name) : this.entersFolder(above, name);
    });
  }

  /** A bound for the work that one byte of a name costs. */
  get cost(): number {
    return this.include.cost + this.exclude.cost;
  }

  /** The globs in the form that was sent. */
  get patterns(): readonly (readonly string[])[] {
    return [this.include.globs, this.exclude.globs];
  }

  /** The globs that have matched nothing so far, and included ones that have matched only folders. */
  get unmatched(): UnmatchedGlob[] {
    return [...this.include.unmatched("include"), ...this.exclude.unmatched("exclude")];
  }
}

/** The verdict of a list on a path: its last matching glob selects it, or takes back earlier matches. */
type GlobMatch = "matched" | "taken back" | undefined;

/** The globs that match a path together, by their places in the list. */
interface Matching {
  readonly ofFile: GlobMatch;
  readonly ofFolder: GlobMatch;
  readonly places: readonly number[];
  hasMatchedFile: boolean;
  hasMatchedFolder: boolean;
}

/** The globs of one field, as one automaton. */
export class GlobList {
  readonly globs: readonly string[];
  readonly cost: number;
  /** Whether some glob does not begin with "!". */
  readonly hasPlain: boolean;
  readonly #rules: readonly Rule[];
  readonly #reaches: readonly Reach[];
  readonly #known = new Map<string, number>();
  readonly #matching: Matching[] = [];
  /** The globs that have matched a file, and a folder. */
  readonly #ofFiles = new Set<number>();
  readonly #ofFolders = new Set<number>();
  readonly #dfa: LazyDfa;
  readonly #trail: FolderTrail;

  /** Compiles the globs. Throws a `GlobError`, whose message is a whole sentence. */
  constructor(all: readonly string[]) {
    const globs = all.filter((glob) => !isBlank(glob));
    requireShort(globs);
    this.globs = globs;
    this.cost = costOf(Buffer.from(globs.join("\n")));
    this.#rules = globs.map(parseRule);
    this.#reaches = globs.filter((_, place) => !this.#rules[place]!.isNegated).map(reachOf);
    this.hasPlain = this.#rules.some(({ isNegated }) => !isNegated);
    this.#dfa = new LazyDfa(buildNfa(this.#rules.map(({ pattern }) => [pattern])), {
      characters: "bytes",
      outputOf: (combination) => this.#outputOf(combination),
    });
    this.#trail = this.#dfa.trailFrom(0);
  }

  get size(): number {
    return this.globs.length;
  }

  /** Documented at `LazyDfa.follow`. */
  follow(path: string): Steps<void> {
    return this.#dfa.follow(this.#trail, path);
  }

  match(path: string, name: NameBytes, isFolder: boolean): GlobMatch {
    if (this.globs.length === 0) return undefined;
    const matching = this.#matching[this.#dfa.outputForBytesIn(this.#trail, path, name)]!;
    if (!(isFolder ? matching.hasMatchedFolder : matching.hasMatchedFile)) this.#note(matching, isFolder);
    return isFolder ? matching.ofFolder : matching.ofFile;
  }

  /** Notes that the globs of a combination have matched their first file, or their first folder. */
  #note(matching: Matching, isFolder: boolean): void {
    if (isFolder) matching.hasMatchedFolder = true;
    else matching.hasMatchedFile = true;
    for (const place of matching.places)
      if (isFolder) this.#ofFolders.add(place);
      else if (!this.#rules[place]!.isOnlyForFolders) this.#ofFiles.add(place);
  }

  /** Returns whether a glob may match something below a folder. Without plain globs, anything may match. */
  mayMatchBelow(folder: string): boolean {
    if (!this.hasPlain) return true;
    const names = folder.split("/");
    return this.#reaches.some(
      ({ folders, depth }) =>
        names.length < depth &&
        folders.every((name, index) => index >= names.length || name === names[index]),
    );
  }

  unmatched(list: UnmatchedGlob["list"]): UnmatchedGlob[] {
    return this.globs.flatMap((glob, place) => {
      const onlyFolders = this.#ofFolders.has(place);
      const isIncluding = list === "include" && !this.#rules[place]!.isNegated;
      if (this.#ofFiles.has(place) || (onlyFolders && !isIncluding)) return [];
      return [{ list, glob, instead: withSlashes(glob), onlyFolders }];
    });
  }

  /** Returns the index of the verdict that the globs in this combination give together. */
  #outputOf(combination: StateSet): number {
    const places = this.#rules.flatMap((_, place) =>
      (combination[place >>> 5]! >>> (place & 31)) & 1 ? [place] : [],
    );
    const key = places.join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const ofFolder = places.at(-1);
    const ofFile = places.findLast((place) => !this.#rules[place]!.isOnlyForFolders);
    const index = this.#matching.push({
      ofFile: this.#saidBy(ofFile),
      ofFolder: this.#saidBy(ofFolder),
      places,
      hasMatchedFile: false,
      hasMatchedFolder: false,
    });
    this.#known.set(key, index - 1);
    return index - 1;
  }

  #saidBy(place: number | undefined): GlobMatch {
    if (place === undefined) return undefined;
    return this.#rules[place]!.isNegated ? "taken back" : "matched";
  }
}

/** The part of the tree that a glob can match in. */
interface Reach {
  /** The names of the folders that all matches are in, from the base. */
  readonly folders: readonly string[];
  /** The maximum number of names in the path of a match. */
  readonly depth: number;
}

/** Returns the reach of a glob, or of a larger part of the tree. */
function reachOf(glob: string): Reach {
  const names = glob.replace(/^\.?\/|\/$/g, "").split("/");
  const isAnchored = /^\.?\/|\/./.test(glob);
  if (!isAnchored) return { folders: [], depth: Number.POSITIVE_INFINITY };
  const plain = names.slice(0, -1).findIndex((name) => /[*?[\]{}\\]/.test(name));
  const isBounded = !names.some((name) => name.includes("**") || /[{}[\\]/.test(name));
  return {
    folders: names.slice(0, plain < 0 ? -1 : plain),
    depth: isBounded ? names.length : Number.POSITIVE_INFINITY,
  };
}

/** Returns whether a glob is blank. Like in an ignore file, it then has no effect. */
const isBlank = (glob: string): boolean => /^\p{White_Space}*$/u.test(glob);

function requireShort(globs: readonly string[]): void {
  let length = 0;
  for (const glob of globs) {
    length += glob.length;
    if (length > maxSetUnits.ofCaller)
      throw new GlobError(
        glob,
        `makes the globs longer than ${maxSetUnits.ofCaller} characters together`,
        "send fewer or shorter ones",
      );
  }
}

function parseRule(glob: string): Rule {
  // This reports malformed globs, which an ignore file would skip or take literally.
  parseGlob(glob.replace(/^!/, ""));
  // A leading "./" is the base, and "#" begins no comment here.
  const rule = glob === "!" ? undefined : parseLine(glob.replace(/^(!?)\.\//, "$1/").replace(/^#/, "\\#"));
  if (rule !== undefined) return rule;
  throw new GlobError(glob, "names nothing", 'send a name such as "src" or a path such as "src/**/*.ts"');
}
