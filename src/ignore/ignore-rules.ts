import type { NameBytes } from "../jail/name.ts";
import type { IgnoreFile } from "./ignore-file.ts";

/** An ignore file in force. */
interface InForce {
  readonly file: IgnoreFile;
  /** Which of the kinds of ignore files it is: a lower one is stronger. */
  readonly kind: number;
  /** Where in the path of an entry the part begins that its patterns are for: after the path of its own folder. */
  readonly from: number;
}

/** The rules for what lies below a folder: those of its own ignore files and of the folders above it. */
export class IgnoreRules {
  /** The strongest first: by kind, and of one kind the file in the nearest folder. */
  readonly #inForce: readonly InForce[];
  /** Of all ignore files in force. */
  readonly cost: number;

  private constructor(inForce: readonly InForce[]) {
    this.#inForce = inForce;
    this.cost = inForce.reduce((sum, { file }) => sum + file.cost, 0);
  }

  static readonly none = new IgnoreRules([]);

  /** With the ignore files in the folder at `path` from the base: one of each kind, the strongest first. */
  with(path: string, own: readonly (IgnoreFile | undefined)[]): IgnoreRules {
    const from = path === "" ? 0 : path.length + 1;
    const added = own.flatMap((file, kind) => (file === undefined ? [] : [{ file, kind, from }]));
    if (added.length === 0) return this;
    return new IgnoreRules([...added, ...this.#inForce].sort((one, other) => one.kind - other.kind));
  }

  /** Whether the entry with this name in the folder at `path` from the base is ignored. */
  ignores(path: string, name: NameBytes, isFolder: boolean): boolean {
    for (const { file, from } of this.#inForce) {
      const match = file.match(path, from, name, isFolder);
      if (match !== undefined) return match === "ignore";
    }
    return false;
  }
}
