/** What a patch says, whatever its format: which files it is about, and what becomes of each. */
import type { LineTable } from "./line-table.ts";

export const patchFormats = ["v4a", "unified"] as const;
export type PatchFormat = (typeof patchFormats)[number];

/** Some lines of a file that follow each other, and what becomes of them. */
export interface Hunk {
  /** Its lines in the patch, from 0, up to, not including, `end`. Each begins with what becomes of it. */
  readonly first: number;
  readonly end: number;
  /** Lines of the file that stand somewhere before it, the outer ones first. */
  readonly headings: readonly string[];
  /** Whether its last line is the last one of the file. */
  readonly isAtEnd: boolean;
  /** How many lines of the file stand before it, as its header says; undefined where it does not. */
  readonly linesBefore: number | undefined;
}

/** What becomes of one file. */
export type FilePatch = {
  /** As the patch names it, without the prefixes of git. */
  readonly path: string;
  /** The line of the patch, from 0, in which it is named. */
  readonly line: number;
  readonly hunks: readonly Hunk[];
} & (
  | { readonly change: "add"; readonly mode?: number }
  /** Without hunks, whatever the file holds; with hunks, only if they remove all of it. */
  | { readonly change: "delete" }
  | {
      readonly change: "update";
      /** Permission bits that it gets. */
      readonly mode?: number;
      /** Where it, or a copy of it, is afterwards. */
      readonly target?: { readonly path: string; readonly isCopy: boolean };
    }
);

export interface Patch {
  readonly format: PatchFormat;
  readonly lines: LineTable;
  /** In the order of the patch. A file that is named twice is changed twice. */
  readonly files: readonly FilePatch[];
}
