import type { NameBytes } from "../jail/name.ts";
import type { IgnoreFile } from "./ignore-file.ts";

/** An ignore file in force, and the path of the folder at hand from the one that the file is in. */
interface InForce {
  readonly file: IgnoreFile;
  readonly folder: string;
}

/** The rules for the entries of one folder: those of its own ignore files and of the folders above it. */
export class IgnoreRules {
  /** By kind of file; of each, the file in the nearest folder first. */
  readonly #kinds: readonly (readonly InForce[])[];
  readonly #inOrder: readonly InForce[];
  /** Of all ignore files in force. */
  readonly cost: number;

  private constructor(kinds: readonly (readonly InForce[])[]) {
    this.#kinds = kinds;
    this.#inOrder = kinds.flat();
    this.cost = this.#inOrder.reduce((sum, { file }) => sum + file.cost, 0);
  }

  static readonly none = new IgnoreRules([]);

  /** The rules in a folder of this one. */
  below(name: string): IgnoreRules {
    if (this.#inOrder.length === 0) return this;
    const inside = ({ file, folder }: InForce) => ({
      file,
      folder: folder === "" ? name : `${folder}/${name}`,
    });
    return new IgnoreRules(this.#kinds.map((kind) => kind.map(inside)));
  }

  /** With the ignore files that this folder has itself: one of each kind, the strongest first. */
  with(own: readonly (IgnoreFile | undefined)[]): IgnoreRules {
    if (own.every((file) => file === undefined)) return this;
    return new IgnoreRules(
      own.map((file, kind) => [
        ...(file === undefined ? [] : [{ file, folder: "" }]),
        ...(this.#kinds[kind] ?? []),
      ]),
    );
  }

  /** Whether the entry with this name in the folder is ignored. */
  ignores(name: NameBytes, isFolder: boolean): boolean {
    for (const { file, folder } of this.#inOrder) {
      const match = file.match(folder, name, isFolder);
      if (match !== undefined) return match === "ignore";
    }
    return false;
  }
}
