import type { IgnoreFiles } from "../ignore/ignore-files.ts";
import type { Jail } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import type { TimeSlice } from "../scheduling/time-slice.ts";
import type { LineMatch, LineOptions } from "./matchers/lines.ts";
import type { Query } from "./matchers/query-compiler.ts";
import type { Place } from "./place.ts";
import type { EntryFilterOptions } from "./walk/entry-filter.ts";
import type { SharedFolder } from "./walk/shared-folder.ts";
import type { WalkOptions } from "./walk/walk.ts";

/** A query, where to search it, and limits of the answer. The pattern must not be empty, nor both switches off. */
export interface SearchRequest extends EntryFilterOptions {
  readonly query: Query;
  readonly lines: LineOptions;
  /** The folder to walk. Paths in the answer are relative to the base. */
  readonly path: string;
  /** `path` may also be a file: then the search reads that file alone. */
  readonly mayBeFile?: boolean;
  /** Such a file is searched whatever globs, types and ignore files say. Default: false. */
  readonly searchesGivenFile?: boolean;
  /** The order of files: by path, or those that were modified last first. Default: path. */
  readonly sort?: "path" | "modified";
  /** Leaves out what ignore files name. */
  readonly ignoreFiles?: IgnoreFiles | undefined;
  /** Cap of each list. */
  readonly maxMatches: number;
  /** The search skips larger files. */
  readonly maxFileBytes: number;
  readonly content: boolean;
  /** Paths match fuzzily, and the best come first. */
  readonly fuzzyPaths?: boolean;
  readonly paths: boolean;
  /** Most bytes of the answer as JSON; matches that do not fit are left out. */
  readonly maxAnswerBytes: number;
  /** The answer has the fields `index` and `kind`. */
  readonly isExtended?: boolean;
  /** The answer is a page: one part of the results, with the fields of `PageFields`. */
  readonly page?: PageRequest | undefined;
}

/** A search under way. */
export interface RunningSearch {
  readonly request: SearchRequest;
  readonly deadline: Deadline;
  readonly slice: TimeSlice;
  /** The folder where the walk starts. The search releases it. */
  readonly folder: SharedFolder;
  readonly walk: Omit<WalkOptions, "onTooDeep"> & { readonly jail: Jail };
  /** Whether it may take the files from a watched tree. Default true. */
  readonly mayReplay?: boolean;
}

/** Limits and beginning of a page (coder §16). */
export interface PageRequest {
  /** Bytes of the answer as JSON, which only a first match may exceed. */
  readonly maxBytes: number;
  /** Time after which the search stops. */
  readonly milliseconds: number | undefined;
  /** What comes up to this place is left out. */
  readonly after: Place | undefined;
  /** Makes the cursor of a place. */
  readonly seal: (place: Place) => string;
  /** Whether to say why files were not searched, with the names of some. Default: false. */
  readonly namesLeftOut?: boolean;
}

/** Files and folders that were not searched for one reason. */
export interface NotSearched {
  readonly count: number;
  /** The first of them, if the reason is one that a caller can change. */
  readonly names?: readonly string[];
  /** Ignore files name some of these too, which default excludes leave out. */
  readonly also_ignored?: true;
  readonly reason:
    | "default_excludes"
    | "ignore_files"
    | "denied"
    | "binary"
    | "too_large"
    | "unreadable"
    | "long_lines";
}

export type StoppedBy = "max_matches" | "max_bytes" | "deadline";

/** What only a page has. */
export interface PageFields {
  /** Where the next page starts, unless this is the last one. */
  readonly next_cursor?: string;
  readonly not_searched?: readonly NotSearched[];
  /** Files, and the bytes of their contents. */
  readonly searched: { readonly files: number; readonly bytes: number };
  /** Files whose contents were not searched, and folders that could not be read. */
  readonly skipped: {
    readonly too_large: number;
    readonly binary: number;
    readonly unreadable: number;
    /** Files and folders that ignore files and default excludes left out. */
    readonly excluded: number;
    /** Files in which a line matches only behind the part that is searched. */
    readonly long_lines: number;
  };
  readonly stopped_by?: StoppedBy;
  /** Globs of the call that have matched nothing, or for `only_folders` folders and so no file. */
  readonly unmatched_globs?: readonly {
    readonly field: "include_globs" | "exclude_globs";
    readonly glob: string;
    readonly only_folders?: true;
  }[];
}

/** A match in a file. */
export interface ContentMatch extends LineMatch {
  readonly path: string;
}

export interface PathMatch {
  readonly path: string;
  /** In an answer with `index`. */
  readonly kind?: "file";
}

/** A file whose contents match. */
export interface MatchingFile {
  readonly path: string;
  /** Its matching lines, in mode counts. */
  readonly count?: number;
  readonly matches?: number;
}

/**
 * How files are found: each is read; those that an index rules out are not, where their stamps are those that it knows; or of those
 * not even the stamps are asked for, where a watched tree has reported no change since.
 */
export type FoundBy = "scan" | "verified" | "watched";

/** All lists in the order of path bytes, then lines. */
export interface SearchAnswer extends Partial<PageFields> {
  readonly content_matches: readonly ContentMatch[];
  readonly path_matches: readonly PathMatch[];
  /** In modes files and counts, instead of matches. */
  readonly files?: readonly MatchingFile[];
  readonly index?: FoundBy;
  /** Something was left out: for a cap, for the size of the answer, or because the deadline passed. */
  readonly truncated: boolean;
}

export interface Found {
  readonly answer: SearchAnswer;
  /** Of the answer as JSON. */
  readonly bytes: number;
}
