import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { NameBytes } from "../../filesystem/jail/name.ts";
import { type FolderTrail, LazyDfa } from "../../text/globs/lazy-dfa.ts";
import { buildNfa } from "../../text/globs/nfa.ts";
import type { StateSet } from "../../text/globs/nfa-simulator.ts";
import type { Rule } from "./rule.ts";

/**
 * Returns a bound for the work that one byte of a name costs, and compiling the text. Each byte of the text
 * is a state, wildcards keep theirs active, and each line is a rule with states of its own.
 */
export function costOf(text: Buffer): number {
  let cost = text.length;
  for (const value of text) {
    if (value === star || value === brace) cost += costOfWildcard;
    else if (value === lineFeed) cost += costOfLine;
  }
  return cost;
}

const [star, brace, lineFeed] = [0x2a, 0x7b, 0x0a];
const costOfWildcard = 31;
const costOfLine = 8;

/**
 * The cost of ignore files (`costOf`), times entries, between two checks of the clock: 3 ms for new names of
 * 255 bytes.
 */
const costPerClockCheck = 16 * 1024;

/** Maximum entries between two checks of the clock, whatever their rules cost. */
export const maxEntriesPerClockCheck = 256;

/** Returns the number of entries between two checks of the clock, for rules with this cost. */
export const entriesPerClockCheck = (cost: number): number =>
  Math.max(1, Math.min(maxEntriesPerClockCheck, Math.floor(costPerClockCheck / (cost + 1))));

/** The verdict of an ignore file on a path; `undefined` if no rule matches. */
export type IgnoreMatch = "ignore" | "include" | undefined;

const matches: readonly IgnoreMatch[] = [undefined, "ignore", "include"];

/**
 * The rules of one ignore file, as one automaton. A path like those before it costs one table lookup per
 * byte, however many rules there are (decision 26).
 */
export class IgnoreFile {
  readonly #dfa: LazyDfa;
  readonly #rules: readonly Rule[];

  /** Documented at `costOf`. */
  readonly cost: number;

  constructor(rules: readonly Rule[], cost: number) {
    this.#rules = rules;
    this.cost = cost;
    this.#dfa = new LazyDfa(buildNfa(rules.map(({ pattern }) => [pattern])), {
      characters: "bytes",
      outputOf: (combination) => this.#outputOf(combination),
    });
  }

  /** The approximate memory in bytes. */
  get memory(): number {
    return this.#dfa.memory;
  }

  /** Returns a trail for paths below the folder of the file, whose path with a "/" has `from` code units. */
  trailFrom(from: number): FolderTrail {
    return this.#dfa.trailFrom(from);
  }

  /** Documented at `LazyDfa.follow`. */
  follow(trail: FolderTrail, path: string): Steps<void> {
    return this.#dfa.follow(trail, path);
  }

  /** Returns the verdict on the entry with this name in the folder at `path`, by the trail to it. */
  match(trail: FolderTrail, path: string, name: NameBytes, isFolder: boolean): IgnoreMatch {
    const output = this.#dfa.outputForBytesIn(trail, path, name);
    return matches[isFolder ? output >> 2 : output & 3];
  }

  /** Returns the output of the last matching rule: two bits for files, and two for folders. */
  #outputOf(combination: StateSet): number {
    let ofFolder: Rule | undefined;
    for (let place = this.#rules.length - 1; place >= 0; place--) {
      const word = combination[place >>> 5]!;
      if (word === 0) place &= ~31;
      if ((word & (1 << (place & 31))) === 0) continue;
      const rule = this.#rules[place]!;
      ofFolder ??= rule;
      if (!rule.isOnlyForFolders) return codeOf(rule) | (codeOf(ofFolder) << 2);
    }
    return ofFolder === undefined ? 0 : codeOf(ofFolder) << 2;
  }
}

const codeOf = ({ isNegated }: Rule): number => matches.indexOf(isNegated ? "include" : "ignore");
