/** The parsed form of a patch, whatever its format: the files that it changes, and how. */
import type { HeaderName } from "./file-names.ts";
import type { HunkHeader } from "./hunk-header.ts";
import type { LineTable } from "./line-table.ts";

export const patchFormats = ["v4a", "unified"] as const;
export type PatchFormat = (typeof patchFormats)[number];

/** Consecutive lines of a file, and their changes. */
export interface Hunk {
  /**
   * The first of its lines in the patch, from 0; `end` is after the last. The first character of each line
   * gives its kind.
   */
  readonly first: number;
  readonly end: number;
  /** Earlier lines of the file, the outer ones first. */
  readonly headings: readonly string[];
  /** Whether its last line is the last one of the file. */
  readonly isAtEnd: boolean;
  /** The numbers of its `@@` line, if any. */
  readonly header: HunkHeader | undefined;
  /** Whether it has as many lines as its header says. */
  readonly isCounted: boolean;
  /** Whether it is undone: what it adds is removed, and the other way round. */
  readonly isReversed?: boolean;
}

/** The names of a file in a unified diff, as they are sent. */
export interface SentNames {
  /** The names on both sides, with their prefixes; `undefined` for /dev/null. */
  readonly sides: readonly [HeaderName, HeaderName];
  /** The number of leading parts that are prefixes, if the names alone decide. */
  readonly prefixParts: number;
  /** Whether both have a time, as diff writes it. */
  readonly isDated: boolean;
  /** The names of a rename or copy of git, which have no prefix. */
  readonly moved?: readonly [string, string];
}

/** A path as named in a patch, without the prefixes of git and the blanks around it. */
export interface PatchPath {
  readonly path: string;
  /** The path with the blanks around it in the patch, if any, which may belong to the name. */
  readonly paddedPath?: string | undefined;
}

/** The changes of one file. */
export type FilePatch = PatchPath & {
  /** The line of the patch, from 0, that names the file. */
  readonly line: number;
  readonly hunks: readonly Hunk[];
  /** The names as they are sent, if they have prefixes that are removed. */
  readonly names?: SentNames;
} & (
    | { readonly change: "add"; readonly mode?: number }
    /** A deletion without hunks ignores a content that the patch does not show; else nothing may be left. */
    | {
        readonly change: "delete";
        readonly oldMode?: number;
        /** Whether the patch shows that the file is empty. */
        readonly wasEmpty?: boolean;
      }
    | {
        readonly change: "update";
        /** The new permission bits, if any. */
        readonly mode?: number;
        readonly oldMode?: number;
        /** Whether a missing file is created, since the patch shows it as empty before. */
        readonly mayBeMissing?: boolean;
        /** The new path, of the file or of a copy. */
        readonly target?: PatchTarget;
      }
  );

interface PatchTarget extends PatchPath {
  readonly isCopy: boolean;
}

export interface Patch {
  readonly format: PatchFormat;
  readonly lines: LineTable;
  /** The files in the order of the patch. A file that is named twice is changed twice. */
  readonly files: readonly FilePatch[];
}
