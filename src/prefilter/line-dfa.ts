/**
 * A pattern as an automaton that says where in a line of ASCII text its first match starts. It reads the line from its
 * end: wherever it has read a match, one starts, and the last such place is the first in the line. The kernel runs it
 * in a fraction of the time that a call of the engine takes.
 */
import type { Hir, Look, Range } from "../regex/hir.ts";
import { layout } from "./layout.ts";

export interface LineDfa {
  /** Of each byte its column in the rows. Bytes past ASCII have one in which every row has `layout.foreign`. */
  readonly classes: Uint8Array;
  /** One row per state, the first one's first: for each column the place of the next state's row. */
  readonly rows: Uint16Array;
  /** Rows from this place on: a match starts behind the byte that led there. */
  readonly matching: number;
  /** The column for the start of the line: not a byte, but what may stand before one. */
  readonly edge: number;
}

/** In place of a row, at the start of the line: a match starts there. */
const matchAtStart = 0xfffe;

/** Larger patterns are left to the engine. */
const mostNodes = 256;
const mostStates = 128;
/** Nodes that are visited to find the states: a few milliseconds of work. */
const mostVisits = 20_000;

/** The automaton of `hir`, or undefined when it would be large. */
export function compileLineDfa(hir: Hir): LineDfa | undefined {
  const nodes = new Nodes();
  const first = nodes.add(hir, nodes.accept);
  return nodes.isFull ? undefined : new States(nodes, first).determine();
}

/** What stands beside a place in a line. */
type Side = "edge" | "word" | "return" | "other";

const isWord = (side: Side): boolean => side === "word";
const isLineEnd = (side: Side): boolean => side === "edge" || side === "return";

/** When each assertion holds: a line has no newline in it, and ASCII's word characters are all there are. */
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

/** A step of the pattern, read from right to left. */
type Node =
  | { readonly kind: "accept" }
  | { readonly kind: "byte"; readonly set: Uint8Array; readonly next: number }
  | { readonly kind: "look"; readonly look: Look; readonly next: number }
  | { readonly kind: "fork"; readonly next: number[] };

/** The pattern as steps that follow each other, what stands last in it first. */
class Nodes {
  readonly all: Node[] = [{ kind: "accept" }];
  readonly accept = 0;
  #parts = 0;

  get isFull(): boolean {
    return this.all.length > mostNodes || this.#parts > 4 * mostNodes;
  }

  /** The first step of `hir`, after whose steps come those from `next` on. */
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
        return this.#push({ kind: "fork", next: hir.of.map((branch) => this.add(branch, next)) });
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
        first = this.#push({ kind: "fork", next: [this.add(of, first), next] });
    } else {
      const again: number[] = [next];
      first = this.#push({ kind: "fork", next: again });
      again.push(this.add(of, first));
    }
    for (let times = 0; times < min && !this.isFull; times++) first = this.add(of, first);
    return first;
  }
}

/** Where the reading of a line may be: it has read a byte, but does not know yet what stands before that. */
interface State {
  readonly nodes: readonly number[];
  /** What stands behind. */
  readonly after: Side;
  /** A match starts behind the byte that led here. */
  readonly isMatch: boolean;
}

/** The states of a pattern's steps. */
class States {
  readonly #nodes: readonly Node[];
  readonly #first: number;
  readonly #looksAround: boolean;
  readonly #all: State[] = [];
  readonly #known = new Map<string, number>();
  #visits = 0;

  constructor({ all }: Nodes, first: number) {
    this.#nodes = all;
    this.#first = first;
    this.#looksAround = all.some(({ kind }) => kind === "look");
  }

  determine(): LineDfa | undefined {
    const { classes, members } = this.#classify();
    const [foreignColumn, edge, width] = [members.length, members.length + 1, members.length + 2];
    this.#index({ nodes: [], after: "edge", isMatch: false });
    const steps: number[][] = [];
    for (let index = 0; index < this.#all.length; index++) {
      if (index >= mostStates || (index + 1) * width > layout.mostPlaces || this.#visits > mostVisits)
        return undefined;
      steps.push(members.map((byte) => this.#index(this.#step(this.#all[index]!, byte))));
    }
    // Those that tell of a match come last.
    const order = [...this.#all.keys()].sort(
      (one, other) => Number(this.#all[one]!.isMatch) - Number(this.#all[other]!.isMatch) || one - other,
    );
    const place = new Array<number>(order.length);
    for (const [position, index] of order.entries()) place[index] = position * width;
    const rows = new Uint16Array(order.length * width);
    for (const [index, state] of this.#all.entries()) {
      const row = place[index]!;
      rows.set(
        steps[index]!.map((next) => place[next]!),
        row,
      );
      rows[row + foreignColumn] = layout.foreign;
      rows[row + edge] = this.#reach(state, "edge").isMatch ? matchAtStart : 0;
    }
    return {
      classes: classes.fill(foreignColumn, asciiBytes),
      rows,
      matching: this.#all.filter(({ isMatch }) => !isMatch).length * width,
      edge,
    };
  }

  /** Bytes that no step tells apart are of one class; one member of each stands for it. */
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
    const found = this.#known.get(key) ?? this.#all.push(state) - 1;
    this.#known.set(key, found);
    return found;
  }

  #step(state: State, byte: number): State {
    const side = this.#looksAround ? sides[byte]! : "other";
    const { isMatch, reached } = this.#reach(state, side);
    const next = new Set<number>();
    for (const node of reached) if (node.set[byte] === 1) next.add(node.next);
    return { nodes: [...next].sort((one, other) => one - other), after: side, isMatch };
  }

  /** The steps that read a byte next, and whether a match starts here, when `before` stands before. */
  #reach({ nodes, after }: State, before: Side) {
    const seen = new Set([...nodes, this.#first]);
    const reached: Extract<Node, { kind: "byte" }>[] = [];
    let isMatch = false;
    // What is added on the way is visited too.
    for (const index of seen) {
      this.#visits++;
      const node = this.#nodes[index]!;
      if (node.kind === "accept") isMatch = true;
      else if (node.kind === "byte") reached.push(node);
      else if (node.kind === "fork") for (const next of node.next) seen.add(next);
      else if (looks[node.look](before, after)) seen.add(node.next);
    }
    return { isMatch, reached };
  }
}
