import type { Stamps } from "../jail/statx.ts";

/** Remembers the last read state of some thousand entries, keyed by inode. */
export class RecentInodes {
  readonly #states = new Map<bigint, string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  set({ inode, state }: Stamps): void {
    this.#states.delete(inode);
    this.#states.set(inode, state);
    if (this.#states.size <= this.#most) return;
    const [oldest] = this.#states.keys();
    this.#states.delete(oldest!);
  }

  /** Returns whether the entry is unchanged since then. */
  has({ inode, state }: Stamps): boolean {
    return this.#states.get(inode) === state;
  }
}
