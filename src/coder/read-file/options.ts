import { type Static, Type } from "@sinclair/typebox";
import { Named } from "../../base/schema/fragments.ts";
import { fsScopeField } from "../../calls/contract/fs-scope.ts";
import type { WindowRange } from "../../text/edits/window.ts";
import type { Encoding } from "../../text/encodings/codec.ts";
import { requestedEncoding } from "../../text/encodings/requested-encoding.ts";
import { base64Sentence } from "../fields/file-encoding.ts";
import type { ProfileDefaults } from "../profiles.ts";
import { maxImageBytes } from "./file-kind.ts";
import { refuseRead } from "./read-errors.ts";

const since = "0.4.0";

const Flag = (description: string) => Type.Optional(Type.Boolean({ since, description }));
const Count = (minimum: number, description?: string) =>
  Type.Optional(
    Type.Integer({ format: "uint32", minimum, since, ...(description !== undefined && { description }) }),
  );

const range = {
  line_from: Count(1, "First line, from 1."),
  line_to: Count(1, "Last line."),
  tail: Count(1, "So many lines from the end."),
};

/** A file with a range of its own. */
const ReadEntry = Named("ReadFileEntry", {
  line_from: Count(1),
  line_to: Count(1),
  path: Type.String(),
  tail: Count(1),
});

/** The request of `coder::read-file` (coder §8, coder §15). */
export const ReadRequest = Type.Object(
  {
    encoding: Type.Optional(
      Type.String({
        since,
        description: "`base64`: exact bytes of whole files. Else the file's own.",
      }),
    ),
    files: Type.Optional(
      Type.Array(ReadEntry, { since, description: "Several files with ranges of their own." }),
    ),
    include_globs: Type.Optional(
      Type.Array(Type.String(), {
        since,
        description: "With `stat`: all files that match, below `path`.",
      }),
    ),
    line_from: range.line_from,
    line_to: range.line_to,
    max_output_bytes: Count(0, "Refuse more content than this."),
    numbered: Flag("Put `N→` before each line."),
    path: Type.Optional(
      Type.String({ optionalSince: since, description: "File to read, relative to `base_path`." }),
    ),
    paths: Type.Optional(Type.Array(Type.String(), { since, description: "Several files." })),
    revision: Flag("Answer the revision."),
    sort: Type.Optional(
      Type.Union(
        [Type.Literal("path"), Type.Literal("size"), Type.Literal("lines"), Type.Literal("modified")],
        { since, description: "Of `include_globs`: largest or newest first." },
      ),
    ),
    stat: Flag("Everything but the content."),
    tail: range.tail,
  },
  { title: "ReadFileInput" },
);

export type ReadRequest = Static<typeof ReadRequest>;

/** The part of each file to read, and the form of the answer. */
export interface ReadOptions {
  /** The requested part; `undefined` for the whole file. */
  readonly part: WindowRange | { readonly tail: number } | undefined;
  readonly isNumbered: boolean;
  readonly isStat: boolean;
  readonly isBase64: boolean;
  /** Whether texts are decoded by their byte order mark, the request or the configuration. */
  readonly isDecoded: boolean;
  /** The encoding of a file without a byte order mark, if the request has one. */
  readonly encoding: Encoding | undefined;
  /** Maximum bytes of content in the answer. */
  readonly maxOutputBytes: number | undefined;
  /**
   * Maximum bytes of base64 of an image that is shown as one. `undefined` reads it like any other file.
   */
  readonly maxImageBytes: number | undefined;
  /** Whether a file that is not text is answered as its kind. */
  readonly hasBinaryKinds: boolean;
  /** Whether `stat` also accepts the path of a folder. */
  readonly hasFolderStats: boolean;
  /** Whether the answer says how a text differs from plain text. */
  readonly hasTextNotes: boolean;
  readonly hasRevision: boolean;
  /** Whether lines are counted: for requests with a field that came after 0.2.0. */
  readonly hasLineCounts: boolean;
}

/** Returns the options of a request. Throws bad-input for conflicting fields. */
export function readOptions(request: ReadRequest, profile: ProfileDefaults): ReadOptions {
  const { path, stat: isStat = false, numbered: isNumbered = false } = request;
  const isBase64 = request.encoding === "base64";
  requireOneOf(request);
  if (request.sort !== undefined && !selectsFiles(request)) throw refuseRead.sortWithoutGlobs();
  const part = partOf(request);
  if (isBase64) requireNone(request, partFields, "encoding base64 is for whole files");
  if (isStat) requireNone(request, partFields, "stat answers no content");
  if (isStat && isBase64) throw refuseRead.useless("encoding", "stat answers no content");
  const isLabel = request.encoding !== "base64" && request.encoding !== "text";
  const encoding = requestedEncoding(isLabel ? request.encoding : undefined, base64Sentence);
  return {
    encoding,
    isDecoded: !isBase64 && (encoding !== undefined || profile["read-file.decodes"]),
    part,
    isNumbered,
    isStat,
    isBase64,
    maxImageBytes: isWhole(request)
      ? Math.min(request.max_output_bytes ?? maxImageBytes, maxImageBytes)
      : undefined,
    maxOutputBytes: request.max_output_bytes ?? profile["read-file.max_output_bytes"],
    hasBinaryKinds: profile["read-file.binary_kinds"] && request.encoding === undefined,
    hasFolderStats: profile["read-file.stat_folders"],
    hasTextNotes: profile["read-file.text_notes"],
    hasRevision: request.revision ?? (isStat || profile["read-file.revision"]),
    hasLineCounts:
      path === undefined || Object.keys(request).some((field) => field !== "path" && field !== fsScopeField),
  };
}

/** Returns whether a request is for all files that globs select. */
export const selectsFiles = ({ include_globs: globs = [] }: ReadRequest): boolean => globs.length > 0;

/**
 * Returns the options of a request for all files that globs select. Revisions are left out unless requested.
 * Throws bad-input for conflicting fields.
 */
export function optionsOfStat(request: ReadRequest, profile: ProfileDefaults): ReadOptions {
  const { paths, files, stat = false, revision = false } = request;
  if (!stat) throw refuseRead.globsWithoutStat();
  if (paths !== undefined) throw refuseRead.globsAndOthers("paths");
  if (files !== undefined) throw refuseRead.globsAndOthers("files");
  const options = readOptions({ ...request, path: request.path ?? "." }, profile);
  return { ...options, hasRevision: revision };
}

/** Returns whether the request selects neither a part nor a form of the file. */
const isWhole = (request: ReadRequest): boolean =>
  request.encoding === undefined &&
  request.stat !== true &&
  partFields.every((field) => request[field] === undefined || request[field] === false);

/** The fields that select a part or a form of a file. */
export const partFields = ["line_from", "line_to", "tail", "numbered"] as const;

function requireOneOf({ path, paths, files }: ReadRequest): void {
  const given = [path, paths, files].filter((field) => field !== undefined);
  if (given.length === 0) throw refuseRead.noPath();
  if (given.length === 1) return;
  throw files === undefined ? refuseRead.pathAndPaths() : refuseRead.filesAndOthers();
}

/** A file of a request for several files, and its options. */
export interface BatchEntry {
  readonly path: string;
  readonly options: ReadOptions;
}

/** Returns the entries of a request for several files, or `undefined` for a request for one. */
export const requestedFiles = ({ files, paths }: ReadRequest): readonly unknown[] | undefined =>
  files ?? paths;

/**
 * Yields the files of a request for several, possibly millions. An entry without a range has that of the
 * request. Throws bad-input for conflicting fields.
 */
export function* batchEntries(request: ReadRequest, profile: ProfileDefaults): Generator<BatchEntry> {
  const { files, paths = [] } = request;
  if (files === undefined) {
    const options = readOptions(request, profile);
    for (const path of paths) yield { path, options };
  } else
    for (const entry of files)
      yield { path: entry.path, options: readOptions(requestOfEntry(request, entry), profile) };
}

/** Returns what is requested of one of several files. */
export function requestOfEntry(
  request: ReadRequest,
  { path: _, ...own }: Static<typeof ReadEntry>,
): ReadRequest {
  if (Object.keys(own).length === 0) return request;
  const { line_from, line_to, tail, ...others } = request;
  return { ...others, ...own };
}

function partOf({ line_from: from, line_to: to, tail }: ReadRequest): ReadOptions["part"] {
  if (from === undefined && to === undefined) return tail === undefined ? undefined : { tail };
  if (tail !== undefined) throw refuseRead.tailAndLines();
  const range = { from: from ?? 1, to: to ?? Number.POSITIVE_INFINITY };
  if (range.from > range.to) throw refuseRead.noLines(range.from, range.to);
  return range;
}

function requireNone(request: ReadRequest, fields: typeof partFields, why: string): void {
  const wrong = fields.find((field) => request[field] !== undefined && request[field] !== false);
  if (wrong !== undefined) throw refuseRead.useless(wrong, why);
}
