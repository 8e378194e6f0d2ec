import type { Stamps } from "../jail/statx.ts";

/** How entries were when they were last read, by their inodes: those of the last some thousand. */
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

  /** Whether the entry is as it was then. */
  has({ inode, state }: Stamps): boolean {
    return this.#states.get(inode) === state;
  }
}
