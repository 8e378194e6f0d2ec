import type { Stats } from "node:fs";
import { type HeldFolder, namesOf, pathIn } from "./backend.ts";
import type { PathHandle, ResolvedPath } from "./folder.ts";

interface WalkedTo extends Pick<ResolvedPath, "sentName" | "newFolders"> {
  readonly handle: PathHandle | undefined;
}

/** The result of a walk: a name in a held folder, and the entry there. */
export class WalkedPath implements ResolvedPath {
  readonly folder: HeldFolder;
  readonly name: string;
  readonly sentName: string;
  readonly newFolders: readonly string[];
  readonly #handle: PathHandle | undefined;
  #path: string | undefined;

  constructor(folder: HeldFolder, name: string, { handle, sentName, newFolders }: WalkedTo) {
    this.folder = folder;
    this.name = name;
    this.sentName = sentName;
    this.newFolders = newFolders;
    this.#handle = handle;
  }

  get requested(): string {
    return this.folder.requested;
  }

  get path(): string {
    this.#path ??= this.#ownPath();
    return this.#path;
  }

  #ownPath(): string {
    if (this.name === ".") return "";
    const path = [...this.newFolders, this.name].reduce(pathIn, this.folder.path);
    // A plan keeps many paths, so an equal string is shared.
    return path === this.requested ? this.requested : path;
  }

  get names(): readonly string[] {
    return namesOf(this.path);
  }

  get stats(): Stats | undefined {
    return this.#handle?.stats;
  }

  get content(): readonly Uint8Array[] | undefined {
    return this.#handle?.content;
  }

  open(): number {
    return this.#existing().open();
  }

  requireWritable(): void {
    this.#existing().requireWritable();
  }

  chmod(mode: number): void {
    this.#existing().chmod(mode);
  }

  chown(uid: number, gid: number): void {
    this.#existing().chown(uid, gid);
  }

  [Symbol.dispose](): void {
    this.#handle?.close();
    this.folder.close();
  }

  #existing(): PathHandle {
    if (this.#handle === undefined) throw new Error("a place where nothing is was opened");
    return this.#handle;
  }
}
