import { isUtf8 } from "node:buffer";
import { type Static, Type } from "@sinclair/typebox";
import { Measured } from "../contract/definition.ts";
import { decodeForAnswer, type JsonText } from "../edits/json-text.ts";
import { applyLineOps, type Edited } from "../edits/line-ops.ts";
import { bomLength, countLines } from "../edits/lines.ts";
import { cutToBytes } from "../edits/text.ts";
import { refuse } from "../errors.ts";
import type { Bodies } from "../files/update.ts";
import { Named, Nullable, UInt32, UInt64 } from "../schema/fragments.ts";
import { jsonBytes } from "../text/json-size.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";

const UpdateOp = Type.Union(
  [
    Type.Object(
      { at_line: UInt32(), content: Type.String(), op: Type.Literal("insert") },
      {
        description:
          "Insert `content` before line `at_line` (1-based). `at_line = lines+1` appends to end of file.",
      },
    ),
    Type.Object(
      { from_line: UInt32(), op: Type.Literal("remove"), to_line: UInt32() },
      { description: "Delete lines `from_line..=to_line` (1-based, inclusive)." },
    ),
    Type.Object(
      { content: Type.String(), from_line: UInt32(), op: Type.Literal("update_lines"), to_line: UInt32() },
      { description: "Overwrite lines `from_line..=to_line` with `content`." },
    ),
    Type.Object(
      {
        ignore_case: Type.Boolean({ default: false }),
        op: Type.Literal("replace"),
        pattern: Type.String(),
        replacement: Type.String(),
      },
      { description: "Replace all regex matches in the file body (after line ops)." },
    ),
  ],
  { $id: "UpdateOp" },
);

const UpdateFileSpec = Named("UpdateFileSpec", { ops: Type.Array(UpdateOp), path: Type.String() });

const request = Type.Object({ files: Type.Array(UpdateFileSpec) }, { title: "UpdateFileInput" });

const UpdateFileResult = Named("UpdateFileResult", {
  after: Type.Optional(
    Nullable(Type.String(), {
      description: "UTF-8 body after ops (only on success, capped by `max_read_bytes`).",
    }),
  ),
  applied: UInt32({ description: "Number of operations applied (only meaningful when `success`)." }),
  before: Type.Optional(
    Nullable(Type.String(), {
      description: "UTF-8 body before ops (only on success, capped by `max_read_bytes`).",
    }),
  ),
  error: Type.Optional(Nullable(Type.String())),
  new_line_count: UInt64({
    description: "Final line count after applying (only meaningful when `success`).",
  }),
  path: Type.String(),
  success: Type.Boolean(),
});

const response = Type.Object({ results: Type.Array(UpdateFileResult) }, { title: "UpdateFileOutput" });

/** Bytes of an answer that are kept for paths, counts and errors; the bodies share what is left. */
const roomForTheRest = 1024 * 1024;

/** Bytes of JSON that one byte of a body takes at most, as a \u escape does. */
const mostBytesPerByte = 6;

type Result = Static<typeof UpdateFileResult>;
type FileSpec = Static<typeof UpdateFileSpec>;
type ReplaceOp = Extract<Static<typeof UpdateOp>, { op: "replace" }>;

/** `coder::update-file`: batched edits, atomic per file (coder §8). */
export const updateFile = defineCoderFunction({
  id: "coder::update-file",
  publishedIn: "coder 0.2.0",
  description:
    "Apply batched line-oriented and regex edits across one or more files. Line ops: { op: 'insert', at_line, content } | { op: 'remove', from_line, to_line } | { op: 'update_lines', from_line, to_line, content } — 1-based, inclusive, applied bottom-up. Regex op: { op: 'replace', pattern, replacement, ignore_case? } runs on the file body after line ops. Each file commits atomically via temp + rename.",
  summary: "line and regex edits in batches, atomic per file",
  effect: "writes",
  paths: [{ at: "/files/*/path", access: "write" }],
  request,
  response,
  examples: [
    {
      title: "Insert a line and remove two",
      request: {
        files: [
          {
            path: "src/main.ts",
            ops: [
              { op: "insert", at_line: 1, content: "// SPDX-License-Identifier: Apache-2.0" },
              { op: "remove", from_line: 10, to_line: 11 },
            ],
          },
        ],
      },
    },
    {
      title: "Rename a function with a regex",
      request: {
        files: [
          {
            path: "src/main.ts",
            ops: [{ op: "replace", pattern: "\\bgetUser\\b", replacement: "loadUser" }],
          },
        ],
      },
    },
  ],
  answerBytes: ({ files }, context) =>
    files.length > mostMeasured ? context.maxAnswerBytes : sum(files.map((spec) => bodyBytes(spec, context))),
  async handle(request, context) {
    if (request.files.length === 0) throw refuse.emptyBatch("files");
    const answer = new Answer(context.config.max_read_bytes, context.maxAnswerBytes);
    for (const spec of request.files) {
      const outcome = await context.attempt(() => edit(spec, context, answer));
      if ("error" in outcome) answer.addFailure(spec.path, outcome.error);
      else answer.addSuccess(spec, outcome.value);
    }
    return answer.measured();
  },
  render: ({ results }) =>
    results
      .map(
        ({ path, applied, new_line_count, error }) =>
          `${path}: ${error ?? `${applied} ops applied, ${new_line_count} lines now`}`,
      )
      .join("\n"),
});

/** Files of a batch whose size is read before the work; a longer batch counts as one that fills its answer. */
const mostMeasured = 64;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** About what both bodies of a file take; nothing for one that will be refused. */
function bodyBytes({ path }: FileSpec, { jail }: CoderContext): number {
  try {
    using seen = jail.resolveForRead(path);
    return 2 * (seen.stats?.size ?? 0);
  } catch {
    return 0;
  }
}

/** The result for a file that was edited. */
interface Edit {
  readonly before: JsonText;
  readonly after: JsonText;
  /** Lines it has now. */
  readonly lines: number;
}

async function edit(spec: FileSpec, context: CoderContext, answer: Answer): Promise<Edit> {
  const { path, ops } = spec;
  if (ops.length === 0) throw refuse.emptyOps(path);
  if (ops.some((op) => op.op === "replace" && op.pattern === "")) throw refuse.emptyPattern();
  let lines = 0;
  const change = async (before: Buffer) => {
    const edited = await applyOps(before, spec, context);
    lines = edited.lines;
    return edited.parts;
  };
  return await context.files.update(path, change, context, (bodies) => ({
    ...answer.fit(bodies),
    lines,
  }));
}

/** Line ops first, all on the numbering of the file as it was; then the replacements, in order. */
async function applyOps(before: Buffer, { path, ops }: FileSpec, context: CoderContext): Promise<Edited> {
  const edited = applyLineOps(before, ops);
  const replaceOps = ops.filter((op): op is ReplaceOp => op.op === "replace");
  if (replaceOps.length === 0) return edited;
  const after = await replace(joined(edited.parts), { path, ops: replaceOps }, context);
  return { parts: [after], lines: countLines(after) };
}

/** The whole body but its byte order mark, which is no text: it stays first, and `^` and `\A` stand behind it. */
async function replace(
  body: Buffer,
  { path, ops }: { path: string; ops: readonly ReplaceOp[] },
  { regex, config, deadline }: CoderContext,
): Promise<Buffer> {
  if (!isUtf8(body)) throw refuse.notUtf8(path);
  const mark = body.subarray(0, bomLength(body));
  let text = body.subarray(mark.length);
  for (const { pattern, replacement, ignore_case: ignoreCase } of ops) {
    deadline.check();
    const limits = { path, maxBytes: config.max_write_bytes, deadline };
    const replaced = { pattern, replacement, ignoreCase, strict: config.refuse_undefined_groups };
    text = await regex.replaceAll(text, replaced, limits);
  }
  return mark.length === 0 ? text : Buffer.concat([mark, text]);
}

/**
 * The results, kept below the size of one message: the edits are done, so an answer too large to send would leave
 * the caller believing that they are not. Bodies that do not fit are cut further.
 */
class Answer {
  readonly #results: Result[] = [];
  readonly #maxBodyBytes: number;
  #roomBytes: number;
  /** JSON of the bodies, without their quotes. */
  #bodyBytes = 0;

  constructor(maxBodyBytes: number, maxAnswerBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#roomBytes = maxAnswerBytes - roomForTheRest;
  }

  addFailure(path: string, error: string): void {
    this.#results.push({ path, success: false, applied: 0, new_line_count: 0, error });
  }

  addSuccess({ path, ops }: FileSpec, { before, after, lines }: Edit): void {
    this.#roomBytes -= before.jsonBytes + after.jsonBytes;
    this.#bodyBytes += before.jsonBytes + after.jsonBytes - 4;
    const head = { path, success: true, applied: ops.length, new_line_count: lines };
    this.#results.push({ ...head, before: before.text, after: after.text });
  }

  /**
   * The bodies of one more file, cut to the room that is left: half of it is for each, and what one does not need is the
   * other's. An empty body would read as an empty file.
   */
  fit({ before, after }: Bodies): { before: JsonText; after: JsonText } {
    const room = this.#roomBytes;
    const old = this.#fit([before], room);
    if (old.jsonBytes <= room / 2) return { before: old, after: this.#fit(after, room - old.jsonBytes) };
    const now = this.#fit(after, Math.max(room - old.jsonBytes, Math.floor(room / 2)));
    const rest = room - now.jsonBytes;
    return { before: old.jsonBytes <= rest ? old : this.#fit([before], rest), after: now };
  }

  /** The whole answer. The bodies were measured when they were made to fit. */
  measured(): Measured<{ results: Result[] }> {
    const rest = this.#results.map((result) =>
      result.success ? { ...result, before: "", after: "" } : result,
    );
    return new Measured({ results: this.#results }, jsonBytes({ results: rest }) + this.#bodyBytes);
  }

  #fit(pieces: readonly Buffer[], roomBytes: number): JsonText {
    const most = Math.min(lengthOf(pieces), this.#maxBodyBytes);
    // A text is no shorter as JSON, but for the few bytes of a character that a cut leaves out.
    const whole = most <= roomBytes + 3 ? textOf(pieces, this.#maxBodyBytes) : undefined;
    if (whole !== undefined && whole.jsonBytes <= roomBytes) return whole;
    const part = textOf(pieces, Math.max(0, Math.floor((roomBytes - 2) / mostBytesPerByte)));
    return part.jsonBytes <= roomBytes ? part : nothing;
  }
}

const nothing: JsonText = { text: "", jsonBytes: 2 };

/** See `cutToBytes`, which reads three bytes more than fit. */
function textOf(pieces: readonly Buffer[], maxBytes: number): JsonText {
  const body = joined(pieces, maxBytes + 3);
  if (body.length <= maxBytes) {
    const whole = decodeForAnswer(body);
    if (whole.isUtf8) return whole;
  }
  const text = cutToBytes(body, maxBytes);
  return { text, jsonBytes: jsonBytes(text) };
}

/** The pieces as one, cut to `bytes`. */
function joined(pieces: readonly Buffer[], mostBytes = Number.POSITIVE_INFINITY): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, Math.min(lengthOf(pieces), mostBytes));
}

const lengthOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);
