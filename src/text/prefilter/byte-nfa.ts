/** The NFA of a pattern over ASCII bytes, after Thompson's construction. DFAs are made from it. */
import type { Hir, Look, Range } from "../regex/hir.ts";

/** The kind of character next to a position in a text. */
export type Side = "edge" | "word" | "return" | "newline" | "other";

const isWord = (side: Side): boolean => side === "word";
const isStart = (before: Side): boolean => before === "edge" || before === "newline";
const isEnd = (after: Side): boolean => after === "edge" || after === "newline";

/** The conditions under which each assertion holds in ASCII text, which has only ASCII's word characters. */
const looks: Readonly<Record<Look, (before: Side, after: Side) => boolean>> = {
  Start: (before) => before === "edge",
  End: (_, after) => after === "edge",
  StartLF: isStart,
  EndLF: (_, after) => isEnd(after),
  StartCRLF: (before, after) => isStart(before) || (before === "return" && after !== "newline"),
  EndCRLF: (before, after) =>
    after === "return" || (isEnd(after) && !(before === "return" && after === "newline")),
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
/** The side that each ASCII byte makes for its neighbours. */
export const sides: readonly Side[] = Array.from({ length: asciiBytes }, (_, byte) => {
  if (byte === 0x0a) return "newline";
  if (byte === 0x0d) return "return";
  return /\w/.test(String.fromCharCode(byte)) ? "word" : "other";
});

/** Like `sides`, but for a line, where no newline occurs or needs a class. */
export const lineSides: readonly Side[] = sides.map((side) => (side === "newline" ? "other" : side));

/** Maximum nodes of an NFA. The engine alone matches larger patterns. */
const maxNodes = 256;

/** A node that reads a byte. */
export interface ByteNode {
  readonly kind: "byte";
  readonly set: Uint8Array;
  readonly next: number;
}

type Node =
  | { readonly kind: "match" }
  | ByteNode
  | { readonly kind: "look"; readonly look: Look; readonly next: number }
  | { readonly kind: "union"; readonly next: number[] };

/** The nodes of a pattern that reads its text forward or backward. */
export class ByteNfa {
  readonly all: Node[] = [{ kind: "match" }];
  readonly match = 0;
  /** The number of nodes that `closure` has visited. */
  visits = 0;
  readonly #isForward: boolean;
  #parts = 0;

  constructor(direction: "forward" | "backward") {
    this.#isForward = direction === "forward";
  }

  get isFull(): boolean {
    return this.all.length > maxNodes || this.#parts > 4 * maxNodes;
  }

  get looksAround(): boolean {
    return this.all.some(({ kind }) => kind === "look");
  }

  /** Adds `hir`, which continues at the node `next`. Returns its first node. */
  add(hir: Hir, next: number): number {
    this.#parts++;
    if (this.isFull) return next;
    switch (hir.kind) {
      case "empty":
        return next;
      case "literal":
        return this.#inOrder([...hir.bytes], next, (byte, behind) => this.#byte([[byte, byte]], behind));
      case "class":
        return this.#byte(hir.ranges, next);
      case "look":
        return this.#push({ kind: "look", look: hir.look, next });
      case "concat":
        return this.#inOrder(hir.of, next, (part, behind) => this.add(part, behind));
      case "alternation":
        return this.#push({ kind: "union", next: hir.of.map((branch) => this.add(branch, next)) });
      case "repetition":
        return this.#repeat(hir, next);
    }
  }

  /** Adds the parts, beginning with the one that is read last. */
  #inOrder<T>(parts: readonly T[], next: number, add: (part: T, behind: number) => number): number {
    return this.#isForward
      ? parts.reduceRight((behind, part) => add(part, behind), next)
      : parts.reduce((behind, part) => add(part, behind), next);
  }

  #push(node: Node): number {
    return this.all.push(node) - 1;
  }

  #byte(ranges: readonly Range[], next: number): number {
    const set = new Uint8Array(asciiBytes);
    for (const [first, last] of ranges) set.fill(1, first, last + 1);
    return this.#push({ kind: "byte", set, next });
  }

  #repeat({ of, min, max, greedy }: Extract<Hir, { kind: "repetition" }>, next: number): number {
    const choice = (again: number): number[] => (greedy ? [again, next] : [next, again]);
    let first = next;
    if (Number.isFinite(max)) {
      for (let times = min; times < max && !this.isFull; times++)
        first = this.#push({ kind: "union", next: choice(this.add(of, first)) });
    } else {
      const choices: number[] = [];
      first = this.#push({ kind: "union", next: choices });
      choices.push(...choice(this.add(of, first)));
    }
    for (let times = 0; times < min && !this.isFull; times++) first = this.add(of, first);
    return first;
  }

  /**
   * Visits the nodes that read the next byte, reached from `nodes` at a position with these neighbours, in
   * order of preference. It stops at a match, and when `visit` returns false.
   */
  closure(
    nodes: readonly number[],
    before: Side,
    after: Side,
    visit: (node: ByteNode | "match") => boolean,
  ): void {
    const seen = new Set<number>();
    const stack = nodes.toReversed();
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      if (seen.has(index)) continue;
      seen.add(index);
      this.visits++;
      const node = this.all[index]!;
      if (node.kind === "union") stack.push(...node.next.toReversed());
      else if (node.kind === "look") {
        if (looks[node.look](before, after)) stack.push(node.next);
      } else if (!visit(node.kind === "match" ? "match" : node)) return;
    }
  }

  /**
   * Assigns bytes to classes, each represented by one member. Bytes that no node distinguishes share a class;
   * non-ASCII bytes have none.
   */
  classify(sides: readonly Side[]): { classes: Uint8Array; members: number[] } {
    const classes = new Uint8Array(256);
    const members: number[] = [];
    const known = new Map<string, number>();
    const sets = this.all.flatMap((node) => (node.kind === "byte" ? [node.set] : []));
    const { looksAround } = this;
    for (let byte = 0; byte < asciiBytes; byte++) {
      const key = sets.map((set) => set[byte]).join("") + (looksAround ? sides[byte] : "");
      const found = known.get(key) ?? members.push(byte) - 1;
      known.set(key, found);
      classes[byte] = found;
    }
    return { classes: classes.fill(members.length, asciiBytes), members };
  }
}
