import { type Static, Type } from "@sinclair/typebox";
import { Refusal, refuse } from "../base/errors.ts";
import { Named, Nullable, UInt32, UInt64 } from "../base/schema/fragments.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { contextOfEntries, DryRun } from "./fields/dry-run.ts";
import { FileEncoding, withoutForeignEncodings } from "./fields/file-encoding.ts";
import { Literal } from "./fields/literal.ts";
import { ExpectedRevision, Revision } from "./fields/revisions.ts";
import { Unchanged } from "./fields/unchanged.ts";
import { wrapFlatEnvelope } from "./profiles.ts";
import { summarizeBatch } from "./render/batch-text.ts";
import { pauseOf } from "./services/pause.ts";
import { UpdateAnswer } from "./update-file/answer.ts";
import { editFile, shownAs } from "./update-file/edit-file.ts";
import { OpEcho, UpdateOp } from "./update-file/ops.ts";
import { renderEdit } from "./update-file/text.ts";

const UpdateFileSpec = Named("UpdateFileSpec", {
  encoding: FileEncoding(),
  expected_revision: ExpectedRevision("The file is edited only if it has this revision."),
  ops: Type.Array(UpdateOp),
  path: Type.String(),
});

const request = Type.Object(
  {
    answer: Type.Optional(
      Type.Union(
        shownAs.map((form) => Type.Literal(form)),
        { since: "0.4.0", description: "What is shown of each file." },
      ),
    ),
    dry_run: DryRun,
    files: Type.Array(UpdateFileSpec),
    literal: Literal({ since: "0.4.0" }),
  },
  { title: "UpdateFileInput" },
);

/** The form of a file that was edited. */
export const EditedFields = {
  line_ends: Type.Optional(
    Type.String({
      since: "0.4.0",
      description: "Line ends of a file that has, or had, any but LF, in the profile `agent`.",
    }),
  ),
  line_ends_changed: Type.Optional(
    Type.Boolean({ since: "0.4.0", description: "Whether the edit changed them." }),
  ),
  text_notes: Type.Optional(
    Type.Array(Type.String(), {
      since: "0.4.0",
      description:
        "Encoding other than UTF-8, byte order mark, missing line end at the end, in the profile `agent`.",
    }),
  ),
  hints: Type.Optional(
    Type.Array(Type.String(), {
      since: "0.4.0",
      description: "Advice on replacements and line numbers that may not have done what was meant.",
    }),
  ),
  unchanged: Unchanged,
};

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
  diff: Type.Optional(Type.String({ since: "0.4.0", description: "Unified diff, of at most 4 KiB." })),
  diff_truncated: Type.Optional(Type.Boolean({ since: "0.4.0" })),
  echoes: Type.Optional(
    Type.Array(OpEcho, { since: "0.4.0", description: "The lines around each change, of at most 4 KiB." }),
  ),
  echoes_truncated: Type.Optional(Type.Boolean({ since: "0.4.0" })),
  error: Type.Optional(Nullable(Type.String())),
  ...EditedFields,
  new_line_count: UInt64({
    description: "Final line count after applying (only meaningful when `success`).",
  }),
  path: Type.String(),
  revision: Revision,
  success: Type.Boolean(),
});

const response = Type.Object({ results: Type.Array(UpdateFileResult) }, { title: "UpdateFileOutput" });

type FileSpec = Static<typeof UpdateFileSpec>;

/** `coder::update-file`: batched edits, atomic per file (coder §8). */
export const updateFile = defineCoderFunction({
  id: "coder::update-file",
  publishedIn: "coder 0.2.0",
  description:
    "Apply batched line-oriented and regex edits across one or more files. Line ops: { op: 'insert', at_line, content } | { op: 'remove', from_line, to_line } | { op: 'update_lines', from_line, to_line, content } — 1-based, inclusive, applied bottom-up. Regex op: { op: 'replace', pattern, replacement, ignore_case? } runs on the file body after line ops. Each file commits atomically via temp + rename.",
  summary: "edits by exact text, lines or regex in batches, atomic per file",
  brief:
    "Edit files, each all or nothing. Line ops count lines as before the call, from 1, inclusive: insert (at_line: before it, or lines + 1 to append; content), remove (from_line, to_line), update_lines (from_line, to_line, content). Then, in order: str_replace (old_str, new_str: LF matches CRLF too, which is kept), replace (pattern: a regex of Rust over the whole text; replacement, where $1 is a group; ignore_case).",
  effect: "writes",
  paths: [{ at: "/files/*/path", access: "write" }],
  request,
  response,
  examples: [
    {
      title: "Replace a text that is there once, and see the lines around it",
      request: {
        files: [
          {
            path: "src/main.ts",
            ops: [{ op: "str_replace", old_str: "timeout = 30;", new_str: "timeout = 60;" }],
          },
        ],
        answer: "echo",
      },
    },
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
  answerBytes({ files, answer }, context) {
    if ((answer ?? context.profile["update-file.answer"]) !== "bodies") return files.length * shownBytes;
    return files.length > maxMeasured
      ? context.maxAnswerBytes
      : sum(files.map((spec) => bodyBytes(spec, context)));
  },
  hasFlatEnvelope: true,
  infersOperations: true,
  *normalize(payload, { profile }) {
    const known = profile["encodings.are_checked"]
      ? payload
      : yield* withoutForeignEncodings(payload, (encoding) => typeof encoding === "string");
    return wrapFlatEnvelope(known, "ops", profile);
  },
  async handle({ files, dry_run: isPlan, answer: form }, context) {
    if (files.length === 0) throw refuse.emptyBatch("files");
    const answer = new UpdateAnswer(context.config.max_read_bytes, context.maxAnswerBytes);
    const options = { isPlan, form: form ?? context.profile["update-file.answer"], answer };
    const contextOf = isPlan ? await trialContexts(files, context) : () => context;
    for (const [index, spec] of files.entries()) {
      const hasRevision = spec.expected_revision !== undefined || context.profile.revisions_of_writes;
      const editing = { ...options, hasRevision };
      const entry = contextOf(index);
      const outcome = await entry.attempt(() => editFile(spec, editing, entry));
      if ("error" in outcome) answer.addFailure(spec.path, outcome.error.text);
      else answer.addSuccess({ path: spec.path, applied: spec.ops.length, ...outcome.value });
    }
    return answer.measured();
  },
  *render({ results }, { failure }, { dry_run: isTrial, files = [] }) {
    const lines = summarizeBatch({
      results,
      isTrial,
      done: "changed",
      isDone: ({ unchanged: isUnchanged }) => !isUnchanged,
      nameOf: ({ path }) => path,
    });
    for (const [index, result] of results.entries()) {
      lines.push(
        result.error ? failure(result.error, result.path) : yield* renderEdit(result, files[index]?.ops),
      );
      yield;
    }
    return lines.join("\n");
  },
});

/**
 * Maximum files of a batch whose sizes are read for the estimate. A longer batch is assumed to fill its
 * answer.
 */
const maxMeasured = 64;

/** The estimated bytes of the answer for a file without its bodies. */
const shownBytes = 5 * 1024;

/**
 * Returns a function from the index of an entry of a dry run to its context. Entries that edit one file share
 * a plan; the new content of any other file is not kept for the entries after it.
 */
async function trialContexts(
  files: readonly FileSpec[],
  context: CoderContext,
): Promise<(index: number) => CoderContext> {
  const pause = pauseOf(context);
  const keys: (string | undefined)[] = [];
  const counts = new Map<string | undefined, number>();
  for (const { path } of files) {
    const key = keyOf(path, context);
    keys.push(key);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    await pause();
  }
  const shared = contextOfEntries(context, true, context.config.max_transaction_bytes);
  return (index) => (counts.get(keys[index]) === 1 ? contextOfEntries(context, true) : shared);
}

/** Returns a key that all paths of one file share, or `undefined` for a file that will be refused. */
function keyOf(path: string, { jail }: CoderContext): string | undefined {
  try {
    using place = jail.admit(path, { changes: "entry" });
    return jail.fold(place);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Estimates the bytes of both bodies of a file, 0 for a file that will be refused. */
function bodyBytes({ path }: FileSpec, { jail }: CoderContext): number {
  try {
    using seen = jail.resolveForRead(path);
    return 2 * (seen.stats?.size ?? 0);
  } catch {
    return 0;
  }
}
