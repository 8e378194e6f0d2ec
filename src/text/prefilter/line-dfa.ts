/**
 * A reverse DFA that finds the start of the first match in a line of ASCII text. The kernel runs it from the
 * end of the line. A match starts wherever the DFA is in a match state, so the last of these is the first
 * match. That takes a fraction of the time of a call to the engine.
 */
import type { Hir } from "../regex/hir.ts";
import { ByteNfa, type ByteNode, lineSides, type Side } from "./byte-nfa.ts";
import { DfaStates, maxStates, maxVisits } from "./dfa-states.ts";
import { layout } from "./layout.ts";

export interface LineDfa {
  /**
   * The class of each byte, which is a column of the transitions. In the class of non-ASCII bytes, each entry
   * is `layout.nonAscii`.
   */
  readonly classes: Uint8Array;
  /** One row per state, the start state first, with the index of the next state's row for each class. */
  readonly transitions: Uint16Array;
  /**
   * The first match state; all later states are match states too. A match starts after the byte that led
   * there.
   */
  readonly minMatch: number;
  /** The class of the start of the line, which is not a byte. */
  readonly startColumn: number;
}

/** The value, in place of a state, for a match at the start of the line. */
const matchAtStart = 0xfffe;

/** Compiles `hir`, or returns `undefined` if the DFA would be large. */
export function compileLineDfa(hir: Hir): LineDfa | undefined {
  const nfa = new ByteNfa("backward");
  const first = nfa.add(hir, nfa.match);
  return nfa.isFull ? undefined : new Determinizer(nfa, first).determine();
}

/** A state of the DFA, which has read one byte and not yet the one before it. */
interface State {
  readonly nodes: readonly number[];
  /** The neighbour after the position. */
  readonly after: Side;
  /** Whether a match starts after the byte that led here. */
  readonly isMatch: boolean;
}

/** Performs the subset construction of a DFA from an NFA. */
class Determinizer {
  readonly #nfa: ByteNfa;
  readonly #first: number;
  readonly #looksAround: boolean;
  readonly #states = new DfaStates<State>(({ nodes, after, isMatch }) => `${nodes} ${after} ${isMatch}`);

  constructor(nfa: ByteNfa, first: number) {
    this.#nfa = nfa;
    this.#first = first;
    this.#looksAround = nfa.looksAround;
  }

  determine(): LineDfa | undefined {
    const { classes, members } = this.#nfa.classify(lineSides);
    const [nonAsciiColumn, startColumn, width] = [members.length, members.length + 1, members.length + 2];
    this.#states.index({ nodes: [], after: "edge", isMatch: false });
    const successors: number[][] = [];
    for (let index = 0; index < this.#states.all.length; index++) {
      const isLarge = index >= maxStates || (index + 1) * width > layout.maxTransitions;
      if (isLarge || this.#nfa.visits > maxVisits) return undefined;
      successors.push(members.map((byte) => this.#states.index(this.#step(this.#states.all[index]!, byte))));
    }
    // Match states come last, so that one comparison recognizes them.
    const order = [...this.#states.all.keys()].sort(
      (one, other) =>
        Number(this.#states.all[one]!.isMatch) - Number(this.#states.all[other]!.isMatch) || one - other,
    );
    const place = new Array<number>(order.length);
    for (const [position, index] of order.entries()) place[index] = position * width;
    const transitions = new Uint16Array(order.length * width);
    for (const [index, state] of this.#states.all.entries()) {
      const row = place[index]!;
      transitions.set(
        successors[index]!.map((next) => place[next]!),
        row,
      );
      transitions[row + nonAsciiColumn] = layout.nonAscii;
      transitions[row + startColumn] = this.#reach(state, "edge").isMatch ? matchAtStart : 0;
    }
    return {
      classes,
      transitions,
      minMatch: this.#states.all.filter(({ isMatch }) => !isMatch).length * width,
      startColumn,
    };
  }

  #step(state: State, byte: number): State {
    const side = this.#looksAround ? lineSides[byte]! : "other";
    const { isMatch, reached } = this.#reach(state, side);
    const next = new Set<number>();
    for (const node of reached) if (node.set[byte] === 1) next.add(node.next);
    return { nodes: [...next].sort((one, other) => one - other), after: side, isMatch };
  }

  /**
   * Returns the nodes that read the next byte, given `before` as left neighbour, and whether a match starts
   * here.
   */
  #reach({ nodes, after }: State, before: Side) {
    const reached: ByteNode[] = [];
    let isMatch = false;
    this.#nfa.closure([...nodes, this.#first], before, after, (node) => {
      if (node === "match") isMatch = true;
      else reached.push(node);
      return true;
    });
    return { isMatch, reached };
  }
}
