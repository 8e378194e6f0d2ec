import { Refusal } from "../../base/errors.ts";
import { ignoreVanished } from "../../filesystem/files/ignore-vanished.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import type { IgnoreFiles } from "../../search/ignore/ignore-files.ts";
import { IgnoreRules } from "../../search/ignore/ignore-rules.ts";

/** Maximum folders whose rules are kept. */
const maxFolders = 256;

/** Decides by the current ignore files whether paths are ignored. Reads the rules of each folder once. */
export class IgnoredPaths {
  readonly #files: IgnoreFiles;
  readonly #jail: Pick<Jail, "reopenFolder">;
  readonly #rules = new Map<string, IgnoreRules>();

  constructor({
    ignoreFiles,
    jail,
  }: { readonly ignoreFiles: IgnoreFiles; readonly jail: Pick<Jail, "reopenFolder"> }) {
    this.#files = ignoreFiles;
    this.#jail = jail;
  }

  /** Returns whether the path, or a folder above it, is ignored. */
  has(path: string, isFolder: boolean): boolean {
    const names = path.split("/");
    return names.some((part, depth) => {
      const folder = names.slice(0, depth);
      const name = { bytes: Buffer.from(part), from: 0, to: Buffer.byteLength(part) };
      return this.#rulesOf(folder).ignores(folder.join("/"), name, isFolder || depth < names.length - 1);
    });
  }

  #rulesOf(names: readonly string[]): IgnoreRules {
    const path = names.join("/") || ".";
    const known = this.#rules.get(path);
    if (known !== undefined) return known;
    const above = names.length === 0 ? IgnoreRules.none : this.#rulesOf(names.slice(0, -1));
    const rules = this.#read(path, above) ?? above;
    if (this.#rules.size === maxFolders) this.#rules.clear();
    this.#rules.set(path, rules);
    return rules;
  }

  /** Returns the rules, or `undefined` if the folder is gone. */
  #read(path: string, above: IgnoreRules): IgnoreRules | undefined {
    try {
      return ignoreVanished(() => {
        // Changes have paths from the base, and ignore files above the scope of the call apply too.
        using folder = this.#jail.reopenFolder(path);
        return this.#files.in(folder, above);
      });
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  }
}
