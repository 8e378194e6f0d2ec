import type { Folder } from "../jail/folder.ts";

/** A folder that is closed when the last of its users let go. */
export class SharedFolder {
  readonly folder: Folder;
  readonly #close: () => void;
  #users = 1;

  constructor(folder: Folder, close = () => folder.close()) {
    this.folder = folder;
    this.#close = close;
  }

  /** What stands before the names of its entries in their paths from the base. */
  get prefix(): string {
    return this.folder.path === "" ? "" : `${this.folder.path}/`;
  }

  hold(): this {
    this.#users++;
    return this;
  }

  release(): void {
    if (--this.#users === 0) this.#close();
  }
}
