import type { Deadline } from "../base/scheduling/deadline.ts";
import type { TimeSlice } from "../base/scheduling/time-slice.ts";
import type { Jail } from "../filesystem/jail/folder.ts";
import type { IgnoreFiles } from "./ignore/ignore-files.ts";
import type { LineMatch, LineOptions } from "./matchers/lines.ts";
import type { Query } from "./matchers/query-compiler.ts";
import type { Place } from "./place.ts";
import type { EntryFilterOptions } from "./walk/entry-filter.ts";
import type { SharedFolder } from "./walk/shared-folder.ts";
import type { WalkOptions } from "./walk/walk.ts";

/**
 * A query, the part of the tree to search, and limits of the answer. The pattern must not be empty, nor both
 * switches off.
 */
export interface SearchRequest extends EntryFilterOptions {
  readonly query: Query;
  readonly lines: LineOptions;
  /** The folder to walk. Paths in the answer are relative to the base. */
  readonly path: string;
  /** Whether `path` may also be a file, which is then the only one to search. */
  readonly mayBeFile?: boolean;
  /** Whether such a file is searched regardless of globs, types and ignore files. Default: false. */
  readonly searchesGivenFile?: boolean;
  /** The order of files: by path, or last modified first. Default: path. */
  readonly sort?: "path" | "modified";
  /** The ignore files that apply, if any. */
  readonly ignoreFiles?: IgnoreFiles | undefined;
  /** Maximum entries of each list. */
  readonly maxMatches: number;
  /** Maximum bytes of a file. Larger files are skipped. */
  readonly maxFileBytes: number;
  readonly content: boolean;
  /** Whether paths match fuzzily, best first. */
  readonly fuzzyPaths?: boolean;
  readonly paths: boolean;
  /** Maximum bytes of the answer as JSON. Matches that do not fit are left out. */
  readonly maxAnswerBytes: number;
  /** Whether the answer has the fields `index` and `kind`. */
  readonly isExtended?: boolean;
  /** Present if the answer is a page: one part of the results, with the fields of `PageFields`. */
  readonly page?: PageRequest | undefined;
}

export interface RunningSearch {
  readonly request: SearchRequest;
  readonly deadline: Deadline;
  readonly slice: TimeSlice;
  /** The folder where the walk starts. The search releases it. */
  readonly folder: SharedFolder;
  readonly walk: Omit<WalkOptions, "onTooDeep"> & { readonly jail: Jail };
  /** Whether the search may take the files from a watched tree. Default: true. */
  readonly mayReplay?: boolean;
}

/** The limits and the start of a page (coder §16). */
export interface PageRequest {
  /** Maximum bytes of the answer as JSON, which only a first match may exceed. */
  readonly maxBytes: number;
  /** Maximum milliseconds of the search. */
  readonly milliseconds: number | undefined;
  /** The place where earlier pages end. Results up to it are left out. */
  readonly after: Place | undefined;
  /** Returns the cursor of a place. */
  readonly seal: (place: Place) => string;
  /** Whether to report why files were not searched, with the names of some. Default: false. */
  readonly namesLeftOut?: boolean;
  /** The origin of `maxFileBytes`, to report it with files that are too large. */
  readonly fileLimit?: FileLimit;
}

/** The limit on the size of the files to search, as an answer reports it. */
export interface FileLimit {
  readonly max_bytes: number;
  /** The key of the configuration or the field of the request that sets it. */
  readonly set_by: "max_read_bytes" | "max_write_bytes" | "multiline" | "max_file_bytes";
}

/** The files and folders that were not searched for one reason; with the limit, if they are too large. */
export interface NotSearched extends Partial<FileLimit> {
  readonly count: number;
  /** The first names, if the reason is one that a caller can change. */
  readonly names?: readonly string[];
  /** Present if ignore files also name some of the entries that default excludes leave out. */
  readonly also_ignored?: true;
  readonly reason:
    | "default_excludes"
    | "ignore_files"
    | "denied"
    | "binary"
    | "too_large"
    | "unreadable"
    | "long_lines"
    | "root_gone";
}

export type StoppedBy = "max_matches" | "max_bytes" | "deadline";

/** The fields that only a page has. */
export interface PageFields {
  /** The start of the next page, unless this is the last one. */
  readonly next_cursor?: string;
  readonly not_searched?: readonly NotSearched[];
  /** The number of files, and the bytes of their contents. */
  readonly searched: { readonly files: number; readonly bytes: number };
  /** The number of files whose contents were not searched, and of folders that could not be read. */
  readonly skipped: {
    readonly too_large: number;
    readonly binary: number;
    readonly unreadable: number;
    /** The number of files and folders that ignore files and default excludes left out. */
    readonly excluded: number;
    /** The number of files with a line that matches only after the part that is searched. */
    readonly long_lines: number;
  };
  readonly stopped_by?: StoppedBy;
  /**
   * The globs of the call that matched nothing, or with `only_folders` matched folders but no file; with
   * `instead` one is probably meant that separates names by slashes.
   */
  readonly unmatched_globs?: readonly {
    readonly field: "include_globs" | "exclude_globs";
    readonly glob: string;
    readonly instead?: string;
    readonly only_folders?: true;
  }[];
}

/** A match in a file. */
export interface ContentMatch extends LineMatch {
  readonly path: string;
}

export interface PathMatch {
  readonly path: string;
  /** Present in an answer with `index`. */
  readonly kind?: "file";
}

/** A file with matching contents. */
export interface MatchingFile {
  readonly path: string;
  /** The number of its matching lines, in mode counts. */
  readonly count?: number;
  readonly matches?: number;
}

/**
 * The way in which files are found. `scan`: each file is read. `verified`: files that an index rules out are
 * not read if their stamps are unchanged. `watched`: not even those stamps are read if a watched tree has
 * reported no change since.
 */
export type FoundBy = "scan" | "verified" | "watched";

/** The answer of a search. All lists are in the order of path bytes, then lines. */
export interface SearchAnswer extends Partial<PageFields> {
  readonly content_matches: readonly ContentMatch[];
  readonly path_matches: readonly PathMatch[];
  /** The matching files in modes files and counts, instead of matches. */
  readonly files?: readonly MatchingFile[];
  readonly index?: FoundBy;
  /** Whether something was left out: because of a maximum, the size of the answer, or the deadline. */
  readonly truncated: boolean;
}

export interface Found {
  readonly answer: SearchAnswer;
  /** The bytes of the answer as JSON. */
  readonly bytes: number;
  /** Whether the path names a file. Globs and file types do not apply to it. */
  readonly isOfOneFile?: boolean;
}
