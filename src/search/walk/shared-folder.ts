import type { Folder } from "../../filesystem/jail/folder.ts";

/** A folder that closes when the last of its users releases it. */
export class SharedFolder {
  readonly folder: Folder;
  /**
   * The prefix of its entries' names in paths relative to the start of the walk, one character per byte
   * (`Place.file`).
   */
  readonly walked: string;
  readonly #close: () => void;
  #prefix: string | undefined;
  #users = 1;

  constructor(folder: Folder, close = () => folder.close(), walked = "") {
    this.folder = folder;
    this.walked = walked;
    this.#close = close;
  }

  /** Returns the prefix of its entries' names in paths relative to the base. */
  get prefix(): string {
    this.#prefix ??= this.folder.path === "" ? "" : `${this.folder.path}/`;
    return this.#prefix;
  }

  hold(): this {
    this.#users++;
    return this;
  }

  release(): void {
    if (--this.#users === 0) this.#close();
  }
}
