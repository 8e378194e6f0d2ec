/**
 * Compiles a pattern to a DFA that finds the end of a match whose start is known, in ASCII text of several
 * lines. It has the preferences of the engine: its states keep their nodes in order of preference, and drop
 * those after a match.
 */
import type { Hir } from "../regex/hir.ts";
import { matchesEmpty } from "../regex/text-shape.ts";
import { ByteNfa, type ByteNode, type Side, sides } from "./byte-nfa.ts";
import { DfaStates, maxStates, maxVisits } from "./dfa-states.ts";
import { layout } from "./layout.ts";

export interface ForwardDfa {
  /** The class of each byte, which is a column of the transitions. */
  readonly classes: Uint8Array;
  /**
   * One row per state, with the index of the next state's row for each class. The byte before the match leads
   * from the first row to the state in which the match starts.
   */
  readonly transitions: Uint16Array;
  /**
   * The first match state; all later states are match states too. A match ends before the byte that led
   * there.
   */
  readonly minMatch: number;
  /** The first of the last two states, which end the search: a match state and a dead one. */
  readonly minDead: number;
  /**
   * Transitions per row. The last column stands for the start and the end of the text, which are not bytes.
   */
  readonly width: number;
}

/**
 * Compiles `hir`. Returns `undefined` if the DFA would be large, or if one of its loops may match nothing.
 */
export function compileForwardDfa(hir: Hir): ForwardDfa | undefined {
  if (loopsOverNothing(hir)) return undefined;
  const nfa = new ByteNfa("forward");
  const first = nfa.add(hir, nfa.match);
  return nfa.isFull ? undefined : new Determinizer(nfa, first).determine();
}

/**
 * Returns whether a loop may match nothing. For such a loop, the engine's preferred match does not follow
 * from the order of its nodes.
 */
function loopsOverNothing(hir: Hir): boolean {
  switch (hir.kind) {
    case "repetition":
      return (hir.max > 1 && matchesEmpty(hir.of)) || loopsOverNothing(hir.of);
    case "concat":
    case "alternation":
      return hir.of.some(loopsOverNothing);
    default:
      return false;
  }
}

/** A state of the DFA, which has read one byte and not yet the next. */
interface State {
  /** The NFA nodes in order of preference. */
  readonly nodes: readonly number[];
  /** The neighbour before the position. */
  readonly before: Side;
  /** Whether a match ends before the byte that led here. */
  readonly isMatch: boolean;
}

const dead: State = { nodes: [], before: "other", isMatch: false };
const deadAfterMatch: State = { ...dead, isMatch: true };

class Determinizer {
  readonly #nfa: ByteNfa;
  readonly #first: number;
  readonly #looksAround: boolean;
  readonly #states = new DfaStates<State>(({ nodes, before, isMatch }) => `${nodes} ${before} ${isMatch}`);

  constructor(nfa: ByteNfa, first: number) {
    this.#nfa = nfa;
    this.#first = first;
    this.#looksAround = nfa.looksAround;
  }

  determine(): ForwardDfa | undefined {
    const { classes, members } = this.#nfa.classify(sides);
    const beforeMatch = [...members.map((byte) => this.#sideOf(byte)), this.#sideAtEdge];
    // The successor for non-ASCII bytes, which the text does not contain.
    const nonAscii = this.#states.index(dead);
    this.#states.index(deadAfterMatch);
    const starts = beforeMatch.map((before) =>
      this.#states.index({ nodes: [this.#first], before, isMatch: false }),
    );
    const successors: number[][] = [];
    for (let index = 0; index < this.#states.all.length; index++) {
      const isLarge = index >= maxStates || (index + 2) * (members.length + 2) > layout.maxTransitions;
      if (isLarge || this.#nfa.visits > maxVisits) return undefined;
      const state = this.#states.all[index]!;
      const ofBytes = members.map((byte) => this.#states.index(this.#step(state, byte)));
      const isMatchAtEnd = this.#step(state, undefined).isMatch;
      successors.push([...ofBytes, nonAscii, this.#states.index(isMatchAtEnd ? deadAfterMatch : dead)]);
    }
    const ofFirstRow = [...starts.slice(0, -1), nonAscii, starts.at(-1)!];
    return { classes, ...this.#layOut(ofFirstRow, successors) };
  }

  /**
   * Lays out the rows: the one before the match, the states that go on, match states, and those that end the
   * search.
   */
  #layOut(ofFirstRow: readonly number[], successors: readonly number[][]): Omit<ForwardDfa, "classes"> {
    const width = ofFirstRow.length;
    const rank = ({ nodes, isMatch }: State) => (nodes.length > 0 ? Number(isMatch) : isMatch ? 2 : 3);
    const order = [...this.#states.all.keys()].sort(
      (one, other) => rank(this.#states.all[one]!) - rank(this.#states.all[other]!) || one - other,
    );
    const place = new Array<number>(order.length);
    for (const [position, index] of order.entries()) place[index] = (position + 1) * width;
    const rows = [ofFirstRow, ...order.map((index) => successors[index]!)];
    return {
      transitions: Uint16Array.from(rows.flatMap((row) => row.map((next) => place[next]!))),
      minMatch: (1 + this.#states.all.filter((state) => rank(state) === 0).length) * width,
      minDead: place[this.#states.index(deadAfterMatch)]!,
      width,
    };
  }

  #sideOf(byte: number): Side {
    return this.#looksAround ? sides[byte]! : "other";
  }

  get #sideAtEdge(): Side {
    return this.#looksAround ? "edge" : "other";
  }

  /** Returns the state after a byte, or after the end of the text. */
  #step({ nodes, before }: State, byte: number | undefined): State {
    const side = byte === undefined ? this.#sideAtEdge : this.#sideOf(byte);
    const next = new Set<number>();
    let isMatch = false;
    const visit = (node: ByteNode | "match") => {
      if (node === "match") isMatch = true;
      else if (byte !== undefined && node.set[byte] === 1) next.add(node.next);
      return !isMatch;
    };
    this.#nfa.closure(nodes, before, side, visit);
    if (next.size === 0) return isMatch ? deadAfterMatch : dead;
    return { nodes: [...next], before: side, isMatch };
  }
}
