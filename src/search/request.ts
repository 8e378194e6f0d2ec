import type { LineMatch, LineOptions } from "./lines.ts";
import type { Query } from "./query-compiler.ts";
import type { PathFilter } from "./walk.ts";

/** What to look for, where, and how much of it to answer. Neither the pattern nor both switches may be empty. */
export interface SearchRequest {
  readonly query: Query;
  readonly lines: LineOptions;
  /** The folder to walk. Results are relative to the base all the same. */
  readonly path: string;
  /** `path` may also be a file, which alone is searched then. */
  readonly mayBeFile?: boolean;
  /** Paths that are considered at all; undefined for every path. */
  readonly include: PathFilter | undefined;
  readonly exclude: PathFilter | undefined;
  /** Cap of each list. */
  readonly maxMatches: number;
  /** Larger files are skipped. */
  readonly maxFileBytes: number;
  readonly content: boolean;
  readonly paths: boolean;
  /** Most bytes of the answer as JSON; what does not fit is cut. */
  readonly maxAnswerBytes: number;
}

/** The first match in one line of a file. */
export interface ContentMatch extends LineMatch {
  readonly path: string;
}

export interface PathMatch {
  readonly path: string;
}

/** Both lists in the order of path bytes, then lines. */
export interface SearchAnswer {
  readonly content_matches: readonly ContentMatch[];
  readonly path_matches: readonly PathMatch[];
  /** Something was left out: for a cap, for the size of the answer, or because the deadline passed. */
  readonly truncated: boolean;
}

export interface Found {
  readonly answer: SearchAnswer;
  /** Of the answer as JSON. */
  readonly bytes: number;
}
