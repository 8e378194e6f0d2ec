/**
 * Which nodes a tree with `max_nodes` shows: those nearest to its root. All of a depth come before any of the
 * next one, and in the first depth that does not fit as a whole those come first whose paths do.
 */
export class NodeQuota {
  readonly maxNodes: number;
  /** By depth; the root is one. */
  readonly #counts: number[] = [1];
  readonly #taken: number[] = [];

  constructor(maxNodes: number) {
    this.maxNodes = Math.max(1, maxNodes);
  }

  /** Whether there is room for nodes of this depth, as far as those above it are counted. */
  admits(depth: number): boolean {
    return this.#roomAt(depth) > 0;
  }

  /** Counts nodes that there are at a depth, before any are taken. */
  count(depth: number, nodes: number): void {
    this.#counts[depth] = (this.#counts[depth] ?? 0) + nodes;
  }

  /**
   * How many of `wanted` nodes of a depth the tree shows. Never more than were counted, whatever has changed
   * since.
   */
  take(depth: number, wanted: number): number {
    const taken = this.#taken[depth] ?? 0;
    const left = Math.min(this.#counts[depth] ?? 0, this.#roomAt(depth)) - taken;
    const nodes = Math.max(0, Math.min(wanted, left));
    this.#taken[depth] = taken + nodes;
    return nodes;
  }

  #roomAt(depth: number): number {
    let room = this.maxNodes;
    for (let above = 0; above < depth; above++) room -= this.#counts[above] ?? 0;
    return room;
  }
}
