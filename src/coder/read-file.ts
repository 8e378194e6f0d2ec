import { inOneStep } from "../base/scheduling/time-slice.ts";
import { Measured } from "../calls/contract/prepared-answer.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { type FileView, type ReadAnswer, ReadResponse } from "./read-file/answer.ts";
import { readBatch } from "./read-file/batch.ts";
import {
  batchEntries,
  type ReadOptions,
  ReadRequest,
  readOptions,
  requestedFiles,
  selectsFiles,
} from "./read-file/options.ts";
import { statFiles } from "./read-file/stat-files.ts";
import { renderRead } from "./read-file/text.ts";
import { viewFile } from "./read-file/view.ts";

/** `coder::read-file`: one file as text (coder §8), and what came later (coder §15). */
export const readFile = defineCoderFunction({
  id: "coder::read-file",
  publishedIn: "coder 0.2.0",
  description:
    "Read a file relative to base_path. Returns content plus size/mtime/mode. Capped by max_read_bytes; non-accessible paths return C211.",
  summary: "files, whole or in part, with size, mode and time",
  brief: "Read files, or parts of them. Images are shown.",
  effect: "reads",
  paths: [
    { at: "/path", access: "read" },
    { at: "/paths/*", access: "read" },
    { at: "/files/*/path", access: "read" },
  ],
  request: ReadRequest,
  response: ReadResponse,
  examples: [
    { title: "Read one file", request: { path: "src/main.ts" } },
    {
      title: "Some lines, with their numbers",
      request: { path: "src/main.ts", line_from: 10, line_to: 60, numbered: true },
    },
    { title: "The end of a log", request: { path: "server.log", tail: 100 } },
    {
      title: "Several files, which share the room of the answer",
      request: { paths: ["src/main.ts", "package.json"] },
    },
    {
      title: "Parts of several files",
      request: {
        files: [
          { path: "src/main.ts", line_from: 1, line_to: 20 },
          { path: "server.log", tail: 100 },
        ],
      },
    },
    {
      title: "The longest sources, without their contents",
      request: { include_globs: ["src/**/*.ts"], stat: true, sort: "lines" },
    },
  ],
  normalize: (payload) =>
    inOneStep(() => (hasForeignEncoding(payload) ? { ...payload, encoding: null } : payload)),
  walksTree: selectsFiles,
  answerBytes(request, context) {
    if (selectsFiles(request)) return statBytes;
    const files = requestedFiles(request);
    if (files === undefined)
      return contentBytes(request.path!, readOptions(request, context.profile), context) + entryBytes;
    if (files.length > maxMeasured) return context.maxAnswerBytes;
    const entries = [...batchEntries(request, context.profile)];
    return sum(entries.map(({ path, options }) => entryBytesOf(path, options, context)));
  },
  handle(request, context) {
    if (selectsFiles(request)) return statFiles(request, context);
    if (requestedFiles(request) !== undefined) return readBatch(request, context);
    const options = readOptions(request, context.profile);
    const view = viewFile({ path: request.path!, options, context });
    return view instanceof Promise ? view.then(measured) : measured(view);
  },
  render: renderRead,
});

const measured = ({ answer, jsonBytes }: FileView): Measured<ReadAnswer> => new Measured(answer, jsonBytes);

/** Returns whether `encoding` must be ignored because it is not a text, since 0.2.0 has no such field. */
const hasForeignEncoding = (payload: unknown): payload is object =>
  typeof payload === "object" &&
  payload !== null &&
  "encoding" in payload &&
  typeof payload.encoding !== "string";

/** Estimated bytes of the answer about a file without its content. */
const entryBytes = 256;

/** Estimated bytes of an answer about the files that globs select, at most a hundred. */
const statBytes = 100 * entryBytes;

/**
 * Maximum files of a batch whose sizes are read for the estimate. A longer batch is assumed to fill its
 * answer.
 */
const maxMeasured = 64;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Estimates the bytes of a file's content. */
function contentBytes(path: string, options: ReadOptions, context: CoderContext): number {
  const { part, isStat, isBase64, maxImageBytes } = options;
  using place = context.jail.resolveForRead(path);
  const size = place.stats?.size ?? 0;
  if (isStat) return 0;
  if (part !== undefined) return Math.min(size, context.config.max_read_bytes);
  const mayBeImage = context.showsImages === true && maxImageBytes !== undefined;
  return isBase64 || mayBeImage ? (size / 3) * 4 : size;
}

/** Estimates the bytes of an entry of a batch, which has an error if the file cannot be read. */
function entryBytesOf(path: string, options: ReadOptions, context: CoderContext): number {
  try {
    return entryBytes + contentBytes(path, options, context);
  } catch {
    return entryBytes;
  }
}
