/** Renders the answers of `coder::read-file` for models. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Image, Rendered, Wording } from "../../calls/contract/wording.ts";
import { summarizeBatch } from "../render/batch-text.ts";
import { countBytes, renderName } from "../render/entry-text.ts";
import { renderLeftOut, renderUnmatchedGlobs } from "../search/pages.ts";
import type { ReadAnswer, ReadResult } from "./answer.ts";
import { encodingOfKind } from "./file-kind.ts";
import { partFields, type ReadRequest, requestOfEntry, selectsFiles } from "./options.ts";

/** The number of entries rendered in one step. */
const atOnce = 100;

/** Renders the content unchanged, followed by other facts in brackets. */
export function* renderRead(
  { results, total_files: total, ...answer }: ReadAnswer,
  wording: Wording,
  sent: ReadRequest,
): Steps<Rendered> {
  const request = withoutNulls(sent);
  if (total !== undefined) return renderStats({ ...answer, results: results ?? [], total }, wording, request);
  if (results === undefined) return flatten([renderFile(answer, request)]);
  const summary = summarizeBatch({
    results,
    done: "read",
    isDone: () => true,
    nameOf: ({ path }) => path,
  });
  const files: Piece[][] = summary.map((line) => [line]);
  for (const [index, result] of results.entries()) {
    if (index % atOnce === 0) yield;
    const heading = `==> ${renderName(result.path)}\n`;
    const entry = request.files?.[index];
    const own = entry === undefined ? request : requestOfEntry(request, withoutNulls(entry));
    const shown = result.success ? renderFile(result, own) : [wording.failure(result.error!, result.path)];
    files.push([heading, ...shown]);
  }
  return flatten(files);
}

interface StatsOfFiles extends Pick<ReadAnswer, "not_searched" | "unmatched_globs"> {
  readonly results: readonly ReadResult[];
  readonly total: number;
}

/**
 * Renders a line for each file, with its time only if files are sorted by time, and a note in brackets on
 * files not shown.
 */
function renderStats(
  { results, total, not_searched: left = [], unmatched_globs }: StatsOfFiles,
  wording: Wording,
  request: ReadRequest,
): string {
  const lines = results.map((result) => {
    if (!result.success) return wording.failure(result.error!, result.path);
    const revision = result.revision === undefined ? "" : `, revision ${result.revision}`;
    return `${renderName(result.path)}  ${factsOf(result, request)}${revision}`;
  });
  const order = orders[request.sort ?? "path"];
  const isReachable = left.some(({ reason }) => reason === "default_excludes" || reason === "ignore_files");
  const hint = isReachable ? "; send such a folder as path to list it" : "";
  return [
    ...lines,
    ...(total === 0 ? ["[no file matches include_globs]"] : []),
    ...(results.length < total
      ? [`[${order} ${results.length} of ${total} files; for the others send narrower globs]`]
      : []),
    ...(left.length > 0 ? [`[not listed: ${left.map(renderLeftOut).join(", ")}${hint}]`] : []),
    ...renderUnmatchedGlobs(unmatched_globs),
  ].join("\n");
}

const orders = {
  path: "the first",
  size: "the largest",
  lines: "the longest",
  modified: "the newest",
} as const;

type Piece = string | Image;

/**
 * Joins the pieces of files to one text, interrupted only by images. Each file but the last ends with a line
 * end.
 */
function flatten(files: readonly (readonly Piece[])[]): Rendered {
  const shown: Piece[] = [];
  const add = (piece: Piece) => {
    const before = shown.at(-1);
    if (typeof before === "string" && typeof piece === "string") shown[shown.length - 1] = before + piece;
    else if (piece !== "" || files.length === 1) shown.push(piece);
  };
  for (const [index, pieces] of files.entries()) {
    for (const piece of pieces) add(piece);
    const end = pieces.at(-1);
    if (index < files.length - 1 && typeof end === "string" && !end.endsWith("\n")) add("\n");
  }
  return shown.length === 1 && typeof shown[0] === "string" ? shown[0] : shown;
}

/** Returns the request without null fields. For an optional field, null means that it is absent. */
const withoutNulls = <T extends object>(request: T): T =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null)) as T;

type FileAnswer = Omit<ReadAnswer, "results">;

function renderFile(answer: FileAnswer, request: ReadRequest): Piece[] {
  const { content = "", revision, media_type: mediaType } = answer;
  const notes = answer.content === undefined ? [factsOf(answer, request)] : notesOn(answer, request);
  if (revision !== undefined && (request.revision || request.stat)) notes.push(`revision ${revision}`);
  const noted = notes.map((note) => `[${note}]`).join("\n");
  if (mediaType !== undefined) return [{ data: content, mediaType }, ...(noted === "" ? [] : [noted])];
  const lineEnd = notes.length === 0 || content === "" || content.endsWith("\n") ? "" : "\n";
  return [`${content}${lineEnd}${noted}`];
}

function factsOf({ binary, ...answer }: FileAnswer, request: ReadRequest): string {
  const { size, mode = 0, mtime = 0, is_utf8, total_lines, text_notes: notes = [] } = answer;
  if (answer.kind === "dir") return `folder, mode ${modeOf(mode)}, changed ${timeOf(mtime)}`;
  const kind =
    binary === undefined ? [] : [`${binary === "" ? "binary" : `binary: ${binary}`}${pixelsOf(answer)}`];
  const lines = partFields.filter((field) => request[field]);
  if (binary?.endsWith(" image") && lines.length > 0)
    return `${kind[0]}, ${countBytes(size!)}; an image has no lines: read it without ${lines.join(" and ")}`;
  if (binary !== undefined && !request.stat) {
    const encoding = binary === "" && is_utf8 ? "text" : encodingOfKind(binary);
    const text = encoding === undefined ? "" : `"${encoding}" for its text, `;
    return `${kind[0]}, ${countBytes(size!)}; send encoding ${text}"base64" for its bytes`;
  }
  const facts = [
    ...kind,
    countBytes(size!),
    ...(is_utf8 === undefined && binary === undefined ? ["lines not counted (over max_read_bytes)"] : []),
    ...(total_lines === undefined || binary !== undefined
      ? []
      : [`${total_lines} ${total_lines === 1 ? "line" : "lines"}`]),
    ...(selectsFiles(request) && mode === 0o644 ? [] : [`mode ${modeOf(mode)}`]),
    ...(selectsFiles(request) && request.sort !== "modified" ? [] : [`changed ${timeOf(mtime)}`]),
    ...(is_utf8 === false && answer.encoding === undefined && binary === undefined ? ["not UTF-8"] : []),
    ...notes,
  ];
  return facts.join(", ");
}

const pixelsOf = ({ width, height }: FileAnswer): string =>
  width === undefined ? "" : `, ${width} × ${height} pixels`;

const modeOf = (mode: number): string => mode.toString(8).padStart(4, "0");

/** Renders seconds since 1970. A file may have a time beyond the range of a calendar date. */
function timeOf(seconds: number): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? `${seconds} s after 1970` : time.toISOString().replace(".000", "");
}

function notesOn(answer: FileAnswer, request: ReadRequest): string[] {
  if (answer.size === 0) return ["the file is empty"];
  const place = placeOf(answer, request);
  const isText = request.encoding !== "base64" && answer.media_type === undefined;
  const isUnknown = answer.is_utf8 === false && answer.encoding === undefined && isText;
  const isLossy = answer.encoding !== undefined && answer.content?.includes("\ufffd");
  return [
    ...(isUnknown
      ? [
          'not valid UTF-8: U+FFFD stands for the bytes that are not; if the file is in another encoding, send that, such as "windows-1252" or "shift_jis"',
        ]
      : []),
    ...(answer.encoding === undefined && /\x1b\$[@B]/.test(answer.content ?? "")
      ? ['ESC $ begins characters of ISO-2022-JP; send encoding "iso-2022-jp" to see them']
      : []),
    ...(isLossy ? [`U+FFFD stands for what is invalid in ${answer.encoding}`] : []),
    ...(request.encoding === "base64" ? [] : (answer.text_notes ?? [])),
    ...(place === undefined ? [] : [place]),
  ];
}

/** Returns the range of the shown lines, or `undefined` for all lines. */
function placeOf(
  { lines_returned: lines = 0, total_lines: total, more_lines }: FileAnswer,
  request: ReadRequest,
) {
  const { line_from = 1, line_to, tail } = request;
  if (lines === total || (tail === undefined && line_from === 1 && line_to === undefined)) return undefined;
  if (total === undefined && tail !== undefined) return `the last ${lines} lines`;
  if (lines === 0) return `no line ${line_from}: the file has ${total}`;
  const first = tail === undefined ? line_from : total! - lines + 1;
  const last = first + lines - 1;
  const of = total === undefined ? "" : ` of ${total}`;
  return `lines ${first} to ${last}${of}${more_lines ? `; continue with line_from: ${last + 1}` : ""}`;
}
