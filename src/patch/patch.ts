/** The parsed form of a patch, whatever its format: the files that it changes, and how. */
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
  /**
   * The number of lines in the file before it according to its header, or `undefined` if the header has none.
   */
  readonly linesBefore: number | undefined;
}

/** The changes of one file. */
export type FilePatch = {
  /** The path as named in the patch, without the prefixes of git. */
  readonly path: string;
  /** The line of the patch, from 0, that names the file. */
  readonly line: number;
  readonly hunks: readonly Hunk[];
} & (
  | { readonly change: "add"; readonly mode?: number }
  /** A deletion without hunks ignores the content of the file; one with hunks must remove all of it. */
  | { readonly change: "delete" }
  | {
      readonly change: "update";
      /** The new permission bits, if any. */
      readonly mode?: number;
      /** The new path, of the file or of a copy. */
      readonly target?: { readonly path: string; readonly isCopy: boolean };
    }
);

export interface Patch {
  readonly format: PatchFormat;
  readonly lines: LineTable;
  /** The files in the order of the patch. A file that is named twice is changed twice. */
  readonly files: readonly FilePatch[];
}
