import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { NameBytes } from "../../filesystem/jail/name.ts";
import type { FolderTrail } from "../../text/globs/lazy-dfa.ts";
import type { IgnoreFile } from "./ignore-file.ts";

/** An ignore file in force. */
interface InForce {
  readonly file: IgnoreFile;
  /** The kind of ignore file; a lower one is stronger. */
  readonly kind: number;
  /** The trail to the last folder. It skips the path of the file's own folder and a slash. */
  readonly trail: FolderTrail;
}

/** The rules for everything below a folder: those of its own ignore files and of the folders above it. */
export class IgnoreRules {
  /** The files, the strongest first: by kind, and within a kind the one in the nearest folder. */
  readonly #inForce: readonly InForce[];
  /** The total cost of all ignore files in force. */
  readonly cost: number;

  private constructor(inForce: readonly InForce[]) {
    this.#inForce = inForce;
    this.cost = inForce.reduce((sum, { file }) => sum + file.cost, 0);
  }

  static readonly none = new IgnoreRules([]);

  /**
   * Returns these rules, extended by the ignore files of the folder at `path` from the base: one of each
   * kind, the strongest first.
   */
  with(path: string, own: readonly (IgnoreFile | undefined)[]): IgnoreRules {
    const from = path === "" ? 0 : path.length + 1;
    const added = own.flatMap((file, kind) =>
      file === undefined ? [] : [{ file, kind, trail: file.trailFrom(from) }],
    );
    if (added.length === 0) return this;
    return new IgnoreRules([...added, ...this.#inForce].sort((one, other) => one.kind - other.kind));
  }

  /** Returns whether these are the rules of the same compiled files, in force at the same places. */
  equals(other: IgnoreRules): boolean {
    const [own, others] = [this.#inForce, other.#inForce];
    return (
      own.length === others.length &&
      own.every(({ file, kind, trail }, index) => {
        const one = others[index]!;
        return file === one.file && kind === one.kind && trail.skipped === one.trail.skipped;
      })
    );
  }

  /** Follows the trails of all files to the folder at `path` from the base (`LazyDfa.follow`). */
  *follow(path: string): Steps<void> {
    for (const { file, trail } of this.#inForce) {
      yield* file.follow(trail, path);
      yield;
    }
  }

  /** Returns whether the entry with this name in the folder at `path` from the base is ignored. */
  ignores(path: string, name: NameBytes, isFolder: boolean): boolean {
    for (const { file, trail } of this.#inForce) {
      const match = file.match(trail, path, name, isFolder);
      if (match !== undefined) return match === "ignore";
    }
    return false;
  }
}
