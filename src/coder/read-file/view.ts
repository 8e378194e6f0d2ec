/** Reads one file in the requested form: its whole content, some lines, or facts about it (coder §15). */
import { isUtf8 } from "node:buffer";
import { authorId } from "../../base/author.ts";
import { Refusal, refuse } from "../../base/errors.ts";
import { createTimeSlice, runAtOnce, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import type { OpenFile } from "../../filesystem/files/open-file.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import { describe } from "../../filesystem/files/stats.ts";
import type { FileStats } from "../../filesystem/jail/kind.ts";
import {
  base64Content,
  countFitting,
  type FileContent,
  numberBytes,
  numberContent,
  textContent,
} from "../../text/edits/content.ts";
import { countLines } from "../../text/edits/lines.ts";
import { type LineWindow, rangeOf, tailOf, type WindowRange } from "../../text/edits/window.ts";
import { markedEncodingIn } from "../../text/encodings/byte-order-mark.ts";
import { type Encoding, encodingName, isUtf16, validUtf8 } from "../../text/encodings/codec.ts";
import { decodeText } from "../../text/encodings/open-text.ts";
import { objectBytes } from "../../text/sizes/json-size.ts";
import type { CoderContext } from "../define.ts";
import { configuredEncoding } from "../fields/file-encoding.ts";
import { refuseFileEncoding } from "../fields/file-encoding-errors.ts";
import { type FileView, viewOf } from "./answer.ts";
import { binaryKind, maxImageSide, mediaTypeOf } from "./file-kind.ts";
import { dimensionsOf } from "./image-dimensions.ts";
import type { ReadOptions } from "./options.ts";
import { readPart } from "./part.ts";
import { refuseRead } from "./read-errors.ts";
import { notesOn, notesOnUnused } from "./text-notes.ts";

/** A file to read, and the options of the read. */
export interface FileRead {
  readonly path: string;
  readonly options: ReadOptions;
  readonly context: CoderContext;
}

/** Returns the answer about a file. Throws too-large if it exceeds a limit. */
export function viewFile(read: FileRead): FileView | Promise<FileView> {
  const { path, options, context } = read;
  const folder = options.isStat && options.hasFolderStats ? statFolder(read) : undefined;
  if (folder !== undefined) return folder;
  const limit = { key: "max_read_bytes", bytes: context.config.max_read_bytes };
  return context.files.readOrOpen<FileView | Promise<FileView>>(path, limit, {
    whole(bytes, stats) {
      const view = viewWhole(read, bytes, stats);
      if (!options.isStat) noteRead(read, view, bytes);
      return view;
    },
    large(stats, open) {
      const { part, isStat, isNumbered } = options;
      if (isStat) return viewOf({ path, stats });
      if (part === undefined) throw refuseRead.file({ path, size: stats.size, limit });
      const wanted = { path, part, isNumbered, limit };
      const view = viewLarge(read, { file: open(), stats, wanted });
      noteRead(read, view);
      return view;
    },
  });
}

/** Passes the content to the feed, with links in the path resolved, and what is shown to the shown files. */
function noteRead(read: FileRead, view: FileView | Promise<FileView>, content?: Buffer): void {
  const { path, options, context } = read;
  const { jail, feed, shownFiles, author } = context;
  const isKept = context.profile["update-file.stale_lines"] && authorId(author) !== undefined;
  if (!feed.keepsReads && !isKept) return;
  try {
    using place = jail.admit(path);
    const { path: at } = place;
    const { mode, ctimeMs } = place.stats!;
    if (content !== undefined && feed.keepsReads) feed.noteRead(at, { content, mode: mode & 0o777, ctimeMs });
    if (!isKept) return;
    const isHashed = !options.hasRevision && content !== undefined && content.length <= maxAtOnce;
    const hash = isHashed ? revisionOfBytes([content]) : undefined;
    const note = ({ answer }: FileView) => {
      const { revision = hash } = answer;
      const range = rangeShown(answer, options);
      if (revision === undefined || range === undefined) shownFiles.note(author, at, revision);
      else shownFiles.noteLines(author, at, { revision, ranges: [range] });
    };
    if (view instanceof Promise) view.then(note, () => {});
    else note(view);
  } catch (error) {
    // The file may have been removed since.
    if (!(error instanceof Refusal)) throw error;
  }
}

/** Returns the lines that a view shows, or `undefined` if it shows all. */
function rangeShown(
  { lines_returned: lines = 0, total_lines: total = lines }: FileView["answer"],
  { part }: ReadOptions,
): WindowRange | undefined {
  if (part === undefined || lines === total) return undefined;
  const from = "tail" in part ? total - lines + 1 : part.from;
  return { from, to: from + lines - 1 };
}

/** Returns the facts about a folder, or `undefined` for any other entry. */
function statFolder({ path, context }: FileRead): FileView | undefined {
  using place = context.jail.resolveForRead(path);
  if (place.stats?.isDirectory() !== true) return undefined;
  const { size, mode, mtime } = describe(place.stats);
  const answer = { path, kind: "dir" as const, size, mode, mtime };
  return { answer, jsonBytes: objectBytes(answer), content: undefined };
}

/** Maximum bytes of a file that is decoded, hashed and shown in one step. */
const maxAtOnce = 512 * 1024;

function viewWhole(read: FileRead, bytes: Buffer, stats: FileStats): FileView | Promise<FileView> {
  if (bytes.length <= maxAtOnce) return runAtOnce(viewInSteps(read, bytes, stats));
  // The buffer is used for another file once this function returns.
  const steps = viewInSteps(read, Buffer.from(bytes), stats);
  return runInSlices(steps, createTimeSlice(), () => read.context.deadline.check());
}

function* viewInSteps(read: FileRead, bytes: Buffer, stats: FileStats): Steps<FileView> {
  const { path, options } = read;
  const revision = options.hasRevision ? revisionOfBytes([bytes]) : undefined;
  yield;
  const { text, encoding, endsInReturns } = yield* textOf(read, bytes);
  const name = encoding && encodingName(encoding);
  const isText = encoding !== undefined && !text.includes(0);
  const binary = options.hasBinaryKinds && !isText ? binaryKind(bytes) : undefined;
  const hasNotes = options.hasTextNotes && binary === undefined;
  const notes = hasNotes
    ? [
        ...notesOn(text, { isAtEnd: true, encoding: name, endsInReturns }),
        ...notesOnUnused(options.encoding, name, text),
      ]
    : undefined;
  const known = { path, stats, encoding: binary === undefined ? name : undefined, revision, notes };
  const dimensions = binary === undefined ? undefined : dimensionsOf(bytes, mediaTypeOf(bytes) ?? "");
  yield;
  if (options.isStat)
    return viewOf({ ...known, isUtf8: isUtf8(bytes), totalLines: countLines(text), binary, dimensions });
  const shown = viewMedia(read, { bytes, stats, revision });
  if (shown !== undefined) return shown;
  if (binary !== undefined)
    return viewOf({ path, stats, isUtf8: isUtf8(bytes), revision, binary, dimensions });
  return yield* viewWindow(read, { ...known, window: windowOf(text, options) });
}

/** Returns the decoded text of a file, or its bytes, depending on the options. */
function* textOf({ path, options, context }: FileRead, bytes: Buffer): ReturnType<typeof decodeText> {
  if (!options.isDecoded) return { text: bytes, encoding: undefined, endsInReturns: false };
  return yield* decodeText(bytes, options.encoding ?? configuredEncoding(path, context));
}

interface Whole {
  readonly bytes: Buffer;
  readonly stats: FileStats;
  readonly revision: string | undefined;
}

/**
 * Returns the view of an image or sound, or `undefined` for any other file. Throws too-large for an image
 * that clients could not show. A sound beyond `max_output_bytes`, the limit of texts, is not played.
 */
function viewMedia(
  { path, options, context }: FileRead,
  { bytes, stats, revision }: Whole,
): FileView | undefined {
  const limit = { key: "max_output_bytes", bytes: options.maxImageBytes ?? 0 };
  const mediaType = context.showsImages && limit.bytes > 0 ? mediaTypeOf(bytes) : undefined;
  if (mediaType === undefined) return undefined;
  const isSound = mediaType.startsWith("audio/");
  if (isSound && (!options.hasBinaryKinds || binaryKind(bytes) === undefined)) return undefined;
  const content = base64Content(bytes);
  if (isSound && content.bytes > (options.maxOutputBytes ?? limit.bytes)) return undefined;
  const excess = { path, size: stats.size, limit };
  if (content.bytes > limit.bytes) throw refuseRead.image(excess, content.bytes);
  const dimensions = dimensionsOf(bytes, mediaType);
  if (dimensions !== undefined && Math.max(dimensions.width, dimensions.height) > maxImageSide)
    throw refuseRead.imageSide(excess, dimensions, maxImageSide);
  return viewOf({ path, stats, isUtf8: content.isUtf8, revision, mediaType }, content);
}

function windowOf(bytes: Buffer, { part, hasLineCounts }: ReadOptions): LineWindow {
  if (!hasLineCounts) return { content: bytes, lines: 0, first: 1, total: undefined, hasMore: false };
  if (part === undefined) return rangeOf(bytes, { from: 1, to: Number.POSITIVE_INFINITY });
  return "tail" in part ? tailOf(bytes, part.tail) : rangeOf(bytes, part);
}

interface Taken {
  readonly stats: FileStats;
  /** The name of the encoding that the window was decoded from. */
  readonly encoding?: string | undefined;
  readonly revision: string | undefined;
  readonly window: LineWindow;
  readonly notes?: readonly string[] | undefined;
}

interface Large {
  readonly file: OpenFile;
  readonly stats: FileStats;
  readonly wanted: Parameters<typeof readPart>[1];
}

/** Returns a window of a file that is over the limit; the rest of the file is not read. Closes the file. */
async function viewLarge(read: FileRead, { file, stats, wanted }: Large): Promise<FileView> {
  let encoding: Encoding;
  try {
    encoding = await encodingOfLarge(read, file);
  } catch (error) {
    file.close();
    throw error;
  }
  const window = await readPart(file, wanted, read.context);
  const steps = viewPart(read, { stats, window, encoding });
  return runInSlices(steps, createTimeSlice(), () => read.context.deadline.check());
}

/** Returns the encoding of a file that is over the limit. Throws too-large for UTF-16. */
async function encodingOfLarge({ path, options, context }: FileRead, file: OpenFile): Promise<Encoding> {
  if (!options.isDecoded) return "utf-8";
  const marked = await markedEncodingIn(file.pieces());
  const encoding = marked ?? options.encoding ?? configuredEncoding(path, context) ?? "utf-8";
  // The lines of a large file are found by their bytes.
  if (isUtf16(encoding)) throw refuseFileEncoding.tooLarge(path, encodingName(encoding));
  return encoding;
}

interface LargePart extends Pick<Large, "stats"> {
  readonly window: LineWindow;
  readonly encoding: Encoding;
}

function* viewPart(read: FileRead, { stats, window, encoding }: LargePart): Steps<FileView> {
  const { path, options } = read;
  const { content, hasMore } = window;
  const binary = options.hasBinaryKinds ? binaryKind(content) : undefined;
  if (binary !== undefined) return viewOf({ path, stats, binary });
  const name = encoding === "utf-8" ? undefined : encodingName(encoding);
  const text = name === undefined ? content : (yield* decodeText(content, encoding)).text;
  const notes = options.hasTextNotes ? notesOn(text, { isAtEnd: !hasMore, encoding: name }) : undefined;
  return yield* viewWindow(read, {
    ...{ stats, encoding: name, revision: undefined, notes },
    window: { ...window, content: text },
  });
}

function* viewWindow(read: FileRead, taken: Taken): Steps<FileView> {
  const { path, options } = read;
  const content = yield* contentOf(read, taken);
  const { stats, encoding, revision, notes } = taken;
  const window = options.hasLineCounts ? taken.window : undefined;
  const facts = { path, stats, isUtf8: content.isUtf8 && encoding === undefined, encoding };
  return viewOf({ ...facts, revision, window, notes }, content);
}

/** Returns the content of the answer. Throws too-large before it makes a content that would be. */
function* contentOf(read: FileRead, taken: Taken): Steps<FileContent> {
  const { options, context } = read;
  const { first = 1, lines } = taken.window;
  const { isBase64, isNumbered, maxOutputBytes = Number.POSITIVE_INFINITY } = options;
  const numbering = { first, lines };
  const added = isNumbered ? numberBytes(numbering) : 0;
  const file = isBase64 ? taken.window.content : yield* validUtf8(taken.window.content);
  // A text of many megabytes that is too much need not become a string.
  if (!isBase64 && file.length + added > maxOutputBytes)
    throw tooMuch(read, { ...taken, window: { ...taken.window, content: file } }, file.length + added);
  const content = isBase64
    ? base64Content(file)
    : { ...(yield* textContent(file)), isUtf8: file === taken.window.content };
  yield;
  const bytes = content.bytes + added;
  if (bytes > maxOutputBytes) throw tooMuch(read, taken, bytes);
  if (!isNumbered) return content;
  if (bytes > context.maxAnswerBytes) throw refuse.answerTooLarge(bytes, context.maxAnswerBytes, "reads");
  return yield* numberContent(content, isBase64 ? Buffer.from(content.text) : file, numbering);
}

function tooMuch({ path, options, context }: FileRead, { stats, window }: Taken, bytes: number): Refusal {
  const { isNumbered, isBase64, hasLineCounts, maxOutputBytes = 0, part } = options;
  const { first = 1 } = window;
  const limit = { key: "max_output_bytes", bytes: maxOutputBytes };
  const isFromStart = !isBase64 && (part === undefined || "from" in part);
  const fitting = isFromStart
    ? countFitting(window.content, {
        maxBytes: maxOutputBytes,
        numberedFrom: isNumbered ? first : undefined,
      })
    : 0;
  const lines = hasLineCounts ? window.total : countLines(window.content);
  const excess = { path, size: stats.size, lines, limit };
  const lineTo = fitting === 0 ? undefined : first + fitting - 1;
  const longLine = !isBase64 && countLines(window.content) === 1 ? first : undefined;
  const mayRaise = bytes <= context.maxAnswerBytes;
  return refuseRead.content(excess, { bytes, lineTo, isBase64, longLine, mayRaise });
}
