import type { TreeListener } from "./watched-tree.ts";

/** Hands out small numbers for the files of a tree, and reuses those that were released. */
export class FileNumbers {
  /** One more than the largest number in use. */
  end = 0;
  readonly #free: number[] = [];
  readonly #listener: TreeListener;

  constructor(listener: TreeListener) {
    this.#listener = listener;
  }

  get used(): number {
    return this.end - this.#free.length;
  }

  assign(): number {
    const file = this.#free.pop() ?? this.end++;
    this.#listener.onAdded?.(file);
    return file;
  }

  release(file: number): void {
    this.#free.push(file);
    this.#listener.onRemoved?.(file);
  }
}
