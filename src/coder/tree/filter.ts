import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { OmitsEntry } from "../../filesystem/files/entries.ts";
import type { Folder } from "../../filesystem/jail/folder.ts";
import { entriesPerClockCheck } from "../../search/ignore/ignore-file.ts";
import type { IgnoreFiles } from "../../search/ignore/ignore-files.ts";
import { IgnoreRules } from "../../search/ignore/ignore-rules.ts";
import { EntryFilter } from "../../search/walk/entry-filter.ts";
import type { FolderFilter } from "../fields/folder-filter.ts";

export interface TreeFilterOptions extends FolderFilter {
  readonly includesHidden: boolean;
}

/** Decides which entries a tree leaves out, and which folders it does not open. */
export class TreeFilter {
  readonly #includesHidden: boolean;
  readonly #filter: EntryFilter;
  readonly #ignoreFiles: IgnoreFiles | undefined;
  /** Whether it leaves out nothing, whatever the tree. */
  readonly omitsNothing: boolean;
  /** The number of left-out entries. */
  omitted = 0;

  constructor({ includesHidden, ignoreFiles, defaultExcludes }: TreeFilterOptions, start: Folder) {
    this.#includesHidden = includesHidden;
    this.#filter = new EntryFilter({ include: undefined, exclude: undefined, defaultExcludes }, start);
    this.#ignoreFiles = ignoreFiles;
    this.omitsNothing = includesHidden && ignoreFiles === undefined && defaultExcludes === undefined;
  }

  /** Returns the rules in the folder where the tree starts. */
  *rulesAtStart(start: Folder): Steps<IgnoreRules> {
    if (this.#ignoreFiles === undefined) return IgnoreRules.none;
    return this.#ignoreFiles.in(start, yield* this.#ignoreFiles.above(start));
  }

  /** Returns the rules in a folder, from those of the folder that contains it. */
  rulesIn(folder: Folder, above: IgnoreRules): IgnoreRules {
    return this.#ignoreFiles?.in(folder, above) ?? above;
  }

  /** Returns the entries of the folder to omit, or `undefined` for none. */
  omittedIn(folder: Folder, rules: IgnoreRules): OmitsEntry | undefined {
    if (this.omitsNothing) return undefined;
    return {
      perStep: entriesPerClockCheck(rules.cost),
      omits: (name, kind) => {
        const isOmitted =
          (!this.#includesHidden && name.bytes[name.from] === dot) ||
          (kind === "dir"
            ? rules.ignores(folder.path, name, true)
            : !this.#filter.wantsFile(folder, name, rules));
        if (isOmitted) this.omitted++;
        return isOmitted;
      },
    };
  }

  /** Returns whether the default excludes cover everything in the folder `name`. */
  excludesFolder(folder: Folder, name: string): boolean {
    const bytes = Buffer.from(name);
    return this.#filter.excludesFolder(folder, { bytes, from: 0, to: bytes.length });
  }
}

const dot = 0x2e;
