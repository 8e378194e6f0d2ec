import type { Stats } from "node:fs";
import { type HeldFolder, namesOf, pathIn } from "./backend.ts";
import type { Place, Sight } from "./folder.ts";

/** Where a walk came to: a name in a folder that is held, and what was seen there. */
export class WalkedPlace implements Place {
  readonly folder: HeldFolder;
  readonly name: string;
  readonly newFolders: readonly string[];
  readonly #sight: Sight | undefined;

  constructor(
    folder: HeldFolder,
    name: string,
    { sight, newFolders }: { sight: Sight | undefined; newFolders: readonly string[] },
  ) {
    this.folder = folder;
    this.name = name;
    this.newFolders = newFolders;
    this.#sight = sight;
  }

  get asked(): string {
    return this.folder.asked;
  }

  get path(): string {
    if (this.name === ".") return "";
    return [...this.newFolders, this.name].reduce(pathIn, this.folder.path);
  }

  get names(): readonly string[] {
    return namesOf(this.path);
  }

  get stats(): Stats | undefined {
    return this.#sight?.stats;
  }

  open(): number {
    return this.#seen().open();
  }

  requireWritable(): void {
    this.#seen().requireWritable();
  }

  chmod(mode: number): void {
    this.#seen().chmod(mode);
  }

  chown(uid: number, gid: number): void {
    this.#seen().chown(uid, gid);
  }

  [Symbol.dispose](): void {
    this.#sight?.close();
    this.folder.close();
  }

  #seen(): Sight {
    if (this.#sight === undefined) throw new Error("a place where nothing is was opened");
    return this.#sight;
  }
}
