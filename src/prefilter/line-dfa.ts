/**
 * Compiles a pattern to a reverse DFA that finds the start of the first match in a line of ASCII text. The kernel runs it
 * from the end of the line: a match starts wherever it is in a match state, so the last of these is the first match. That
 * takes a fraction of the time of a call of the engine.
 */
import type { Hir, Look, Range } from "../regex/hir.ts";
import { layout } from "./layout.ts";

export interface LineDfa {
  /** The class of each byte: a column of the transitions. In that of bytes past ASCII each entry is `layout.nonAscii`. */
  readonly classes: Uint8Array;
  /** One row for each state, the start state first: for each class the index of the next state's row. */
  readonly transitions: Uint16Array;
  /** States from this one on are match states: a match starts after the byte that led there. */
  readonly minMatch: number;
  /** The class of the start of the line, which is no byte. */
  readonly startColumn: number;
}

/** Stands for a state at the start of the line: a match starts there. */
const matchAtStart = 0xfffe;

/** The engine alone matches larger patterns. */
const maxNodes = 256;
const maxStates = 128;
/** Visits of NFA nodes during the subset construction: a few milliseconds of work. */
const maxVisits = 20_000;

/** Compiles `hir`, or returns undefined when the DFA would be large. */
export function compileLineDfa(hir: Hir): LineDfa | undefined {
  const nfa = new Nfa();
  const first = nfa.add(hir, nfa.match);
  return nfa.isFull ? undefined : new Determinizer(nfa, first).determine();
}

/** The neighbour of a position in a line. */
type Side = "edge" | "word" | "return" | "other";

const isWord = (side: Side): boolean => side === "word";
const isLineEnd = (side: Side): boolean => side === "edge" || side === "return";

/** When each assertion holds: a line has no newline in it, and only ASCII's word characters. */
const looks: Readonly<Record<Look, (before: Side, after: Side) => boolean>> = {
  Start: (before) => before === "edge",
  End: (_, after) => after === "edge",
  StartLF: (before) => before === "edge",
  EndLF: (_, after) => after === "edge",
  StartCRLF: isLineEnd,
  EndCRLF: (_, after) => isLineEnd(after),
  WordAscii: (before, after) => isWord(before) !== isWord(after),
  WordAsciiNegate: (before, after) => isWord(before) === isWord(after),
  WordUnicode: (before, after) => isWord(before) !== isWord(after),
  WordUnicodeNegate: (before, after) => isWord(before) === isWord(after),
  WordStartAscii: (before, after) => !isWord(before) && isWord(after),
  WordEndAscii: (before, after) => isWord(before) && !isWord(after),
  WordStartUnicode: (before, after) => !isWord(before) && isWord(after),
  WordEndUnicode: (before, after) => isWord(before) && !isWord(after),
  WordStartHalfAscii: (before) => !isWord(before),
  WordEndHalfAscii: (_, after) => !isWord(after),
  WordStartHalfUnicode: (before) => !isWord(before),
  WordEndHalfUnicode: (_, after) => !isWord(after),
};

const asciiBytes = 128;
const sides: readonly Side[] = Array.from({ length: asciiBytes }, (_, byte) => {
  if (byte === 0x0d) return "return";
  return /\w/.test(String.fromCharCode(byte)) ? "word" : "other";
});

/** A node of the NFA, which reads from right to left. */
type Node =
  | { readonly kind: "match" }
  | { readonly kind: "byte"; readonly set: Uint8Array; readonly next: number }
  | { readonly kind: "look"; readonly look: Look; readonly next: number }
  | { readonly kind: "union"; readonly next: number[] };

/** The reversed NFA of a pattern, after Thompson's construction. */
class Nfa {
  readonly all: Node[] = [{ kind: "match" }];
  readonly match = 0;
  #parts = 0;

  get isFull(): boolean {
    return this.all.length > maxNodes || this.#parts > 4 * maxNodes;
  }

  /** Adds `hir` before the node `next`; returns its first node. */
  add(hir: Hir, next: number): number {
    this.#parts++;
    if (this.isFull) return next;
    switch (hir.kind) {
      case "empty":
        return next;
      case "literal":
        return hir.bytes.reduce((behind, byte) => this.#byte([[byte, byte]], behind), next);
      case "class":
        return this.#byte(hir.ranges, next);
      case "look":
        return this.#push({ kind: "look", look: hir.look, next });
      case "concat":
        return hir.of.reduce((behind, part) => this.add(part, behind), next);
      case "alternation":
        return this.#push({ kind: "union", next: hir.of.map((branch) => this.add(branch, next)) });
      case "repetition":
        return this.#repeat(hir, next);
    }
  }

  #push(node: Node): number {
    return this.all.push(node) - 1;
  }

  #byte(ranges: readonly Range[], next: number): number {
    const set = new Uint8Array(asciiBytes);
    for (const [first, last] of ranges) set.fill(1, first, last + 1);
    return this.#push({ kind: "byte", set, next });
  }

  #repeat({ of, min, max }: { of: Hir; min: number; max: number }, next: number): number {
    let first = next;
    if (Number.isFinite(max)) {
      for (let times = min; times < max && !this.isFull; times++)
        first = this.#push({ kind: "union", next: [this.add(of, first), next] });
    } else {
      const again: number[] = [next];
      first = this.#push({ kind: "union", next: again });
      again.push(this.add(of, first));
    }
    for (let times = 0; times < min && !this.isFull; times++) first = this.add(of, first);
    return first;
  }
}

/** A state of the DFA: it has read a byte, and not yet the one before that. */
interface State {
  readonly nodes: readonly number[];
  /** The neighbour after the position. */
  readonly after: Side;
  /** A match starts after the byte that led here. */
  readonly isMatch: boolean;
}

/** The subset construction of a DFA from an NFA. */
class Determinizer {
  readonly #nodes: readonly Node[];
  readonly #first: number;
  readonly #looksAround: boolean;
  readonly #all: State[] = [];
  readonly #indices = new Map<string, number>();
  #visits = 0;

  constructor({ all }: Nfa, first: number) {
    this.#nodes = all;
    this.#first = first;
    this.#looksAround = all.some(({ kind }) => kind === "look");
  }

  determine(): LineDfa | undefined {
    const { classes, members } = this.#classify();
    const [nonAsciiColumn, startColumn, width] = [members.length, members.length + 1, members.length + 2];
    this.#index({ nodes: [], after: "edge", isMatch: false });
    const successors: number[][] = [];
    for (let index = 0; index < this.#all.length; index++) {
      if (index >= maxStates || (index + 1) * width > layout.maxTransitions || this.#visits > maxVisits)
        return undefined;
      successors.push(members.map((byte) => this.#index(this.#step(this.#all[index]!, byte))));
    }
    // Match states come last.
    const order = [...this.#all.keys()].sort(
      (one, other) => Number(this.#all[one]!.isMatch) - Number(this.#all[other]!.isMatch) || one - other,
    );
    const place = new Array<number>(order.length);
    for (const [position, index] of order.entries()) place[index] = position * width;
    const transitions = new Uint16Array(order.length * width);
    for (const [index, state] of this.#all.entries()) {
      const row = place[index]!;
      transitions.set(
        successors[index]!.map((next) => place[next]!),
        row,
      );
      transitions[row + nonAsciiColumn] = layout.nonAscii;
      transitions[row + startColumn] = this.#reach(state, "edge").isMatch ? matchAtStart : 0;
    }
    return {
      classes: classes.fill(nonAsciiColumn, asciiBytes),
      transitions,
      minMatch: this.#all.filter(({ isMatch }) => !isMatch).length * width,
      startColumn,
    };
  }

  /** Bytes that no node distinguishes share a class; one member represents it. */
  #classify(): { classes: Uint8Array; members: number[] } {
    const classes = new Uint8Array(256);
    const members: number[] = [];
    const known = new Map<string, number>();
    const sets = this.#nodes.flatMap((node) => (node.kind === "byte" ? [node.set] : []));
    for (let byte = 0; byte < asciiBytes; byte++) {
      const key = sets.map((set) => set[byte]).join("") + (this.#looksAround ? sides[byte] : "");
      const found = known.get(key) ?? members.push(byte) - 1;
      known.set(key, found);
      classes[byte] = found;
    }
    return { classes, members };
  }

  #index(state: State): number {
    const key = `${state.nodes} ${state.after} ${state.isMatch}`;
    const found = this.#indices.get(key) ?? this.#all.push(state) - 1;
    this.#indices.set(key, found);
    return found;
  }

  #step(state: State, byte: number): State {
    const side = this.#looksAround ? sides[byte]! : "other";
    const { isMatch, reached } = this.#reach(state, side);
    const next = new Set<number>();
    for (const node of reached) if (node.set[byte] === 1) next.add(node.next);
    return { nodes: [...next].sort((one, other) => one - other), after: side, isMatch };
  }

  /**
   * The epsilon closure with `before` as left neighbour: the nodes that read a byte next, and whether a match starts
   * here.
   */
  #reach({ nodes, after }: State, before: Side) {
    const visited = new Set([...nodes, this.#first]);
    const reached: Extract<Node, { kind: "byte" }>[] = [];
    let isMatch = false;
    // The loop also visits the nodes that it adds.
    for (const index of visited) {
      this.#visits++;
      const node = this.#nodes[index]!;
      if (node.kind === "match") isMatch = true;
      else if (node.kind === "byte") reached.push(node);
      else if (node.kind === "union") for (const next of node.next) visited.add(next);
      else if (looks[node.look](before, after)) visited.add(node.next);
    }
    return { isMatch, reached };
  }
}
