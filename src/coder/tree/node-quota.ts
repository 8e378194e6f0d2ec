/**
 * Chooses the nodes that a tree with `max_nodes` shows: those nearest to the root. In the first depth that
 * does not fit as a whole, it shows the nodes whose paths come first.
 */
export class NodeQuota {
  readonly maxNodes: number;
  /** The number of nodes by depth. The root counts as one. */
  readonly #counts: number[] = [1];
  readonly #taken: number[] = [];

  constructor(maxNodes: number) {
    this.maxNodes = Math.max(1, maxNodes);
  }

  /** Returns whether there is room for nodes of this depth, after all nodes counted above it. */
  admits(depth: number): boolean {
    return this.#roomAt(depth) > 0;
  }

  /** Counts nodes of a depth. Call it before any of them is taken. */
  count(depth: number, nodes: number): void {
    this.#counts[depth] = (this.#counts[depth] ?? 0) + nodes;
  }

  /**
   * Takes at most `wanted` nodes of a depth, and returns their number. Never takes more than were counted,
   * even if the disk has changed since.
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
