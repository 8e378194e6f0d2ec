import { Refusal } from "../../base/errors.ts";
import { ignoreVanished } from "../../filesystem/files/ignore-vanished.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import type { IgnoreFiles } from "../../search/ignore/ignore-files.ts";
import { IgnoreRules } from "../../search/ignore/ignore-rules.ts";

/** Maximum folders whose rules are kept. */
const maxFolders = 256;

type Opening = Pick<Jail, "reopenFolder" | "deniesIn">;

/** Decides by the current ignore files whether paths are ignored. Reads the rules of each folder once. */
export class IgnoredPaths {
  readonly #files: IgnoreFiles;
  readonly #jail: Opening;
  readonly #rules = new Map<string, IgnoreRules>();

  constructor({ ignoreFiles, jail }: { readonly ignoreFiles: IgnoreFiles; readonly jail: Opening }) {
    this.#files = ignoreFiles;
    this.#jail = jail;
  }

  /** Returns whether the path, or a folder above it, is ignored. */
  has(path: string, isFolder: boolean): boolean {
    const names = path.split("/");
    let rules = IgnoreRules.none;
    // Opened one in the other, since a path from the base is walked to name by name.
    let opened: Folder | undefined;
    let isGone = false;
    try {
      for (const [depth, part] of names.entries()) {
        const folder = names.slice(0, depth).join("/");
        const known = this.#rules.get(folder);
        const above = opened;
        opened = undefined;
        try {
          if (known === undefined && !isGone) opened = this.#open(folder, above);
        } finally {
          above?.close();
        }
        isGone ||= known === undefined && opened === undefined;
        rules = known ?? this.#keep(folder, (opened && this.#read(opened, rules)) ?? rules);
        const name = { bytes: Buffer.from(part), from: 0, to: Buffer.byteLength(part) };
        if (rules.ignores(folder, name, isFolder || depth < names.length - 1)) return true;
      }
      return false;
    } finally {
      opened?.close();
    }
  }

  #keep(path: string, rules: IgnoreRules): IgnoreRules {
    if (this.#rules.size === maxFolders) this.#rules.clear();
    this.#rules.set(path, rules);
    return rules;
  }

  #read(folder: Folder, above: IgnoreRules): IgnoreRules | undefined {
    return unlessGone(() => this.#files.in(folder, above));
  }

  /** Opens a folder, in the one above it if that is open. Returns `undefined` if it is gone. */
  #open(path: string, above: Folder | undefined): Folder | undefined {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const child = above === undefined || this.#jail.deniesIn(above, name) ? undefined : childOf(above, name);
    // Changes have paths from the base, and ignore files above the scope of the call apply too.
    return child ?? unlessGone(() => this.#jail.reopenFolder(path));
  }
}

/** Opens a folder in another one. The jail says why if it cannot. */
function childOf(above: Folder, name: string): Folder | undefined {
  try {
    return above.child(name);
  } catch {
    return undefined;
  }
}

/** Returns what `act` returns, or `undefined` if it says that an entry is gone. */
function unlessGone<T>(act: () => T): T | undefined {
  try {
    return ignoreVanished(act);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
