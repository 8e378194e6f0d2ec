import { type Static, Type } from "@sinclair/typebox";
import { refuse } from "../base/errors.ts";
import { createTimeSlice, runInSlices } from "../base/scheduling/time-slice.ts";
import { Named, UInt32, UInt64 } from "../base/schema/fragments.ts";
import type { Measured } from "../calls/contract/prepared-answer.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { RemovedFiles } from "./delete-file.ts";
import { LinkedTarget } from "./fields/links.ts";
import { Literal } from "./fields/literal.ts";
import { ReplacesFile } from "./fields/two-paths.ts";
import { fitResults } from "./transact/answer.ts";
import { type ChangeResult, changeAnswers, makeChanges, TransactChange } from "./transact/changes.ts";
import { type Done, planTransaction, runTransaction, type Transaction } from "./transact/run-transaction.ts";
import { renderTransacted } from "./transact/text.ts";
import { refuseTransacting } from "./transact/transact-errors.ts";
import { OpEcho } from "./update-file/ops.ts";
import { EditedFields } from "./update-file.ts";

const request = Type.Object(
  {
    answer: Type.Union(
      changeAnswers.map((form) => Type.Literal(form)),
      { default: "echo", description: "What is shown of each file that is edited." },
    ),
    changes: Type.Array(TransactChange),
    dry_run: Type.Boolean({
      default: false,
      description: "Check and answer, change nothing, and give a plan for coder::commit.",
    }),
    label: Type.Optional(Type.String({ maxLength: 200, description: "A name for the transaction." })),
    literal: Literal(),
  },
  { title: "TransactInput" },
);

const Result = Named("ChangeResult", {
  applied: Type.Optional(UInt32({ description: "Ops of an update." })),
  bytes_written: Type.Optional(UInt64()),
  copied: Type.Optional(Type.Boolean()),
  created: Type.Optional(Type.Boolean()),
  diff: Type.Optional(Type.String({ description: "Unified diff, of at most 4 KiB." })),
  diff_truncated: Type.Optional(Type.Boolean()),
  encoding: Type.Optional(Type.String({ description: "Of a created text that is not in UTF-8." })),
  echoes: Type.Optional(
    Type.Array(OpEcho, { description: "The lines around each change, of at most 4 KiB." }),
  ),
  echoes_truncated: Type.Optional(Type.Boolean()),
  from: Type.Optional(Type.String()),
  linked_to: LinkedTarget,
  ...EditedFields,
  mode: Type.Optional(Type.String({ description: "The octal permission bits that a chmod sets." })),
  moved: Type.Optional(Type.Boolean()),
  new_line_count: Type.Optional(UInt64()),
  op: Type.String(),
  path: Type.Optional(Type.String()),
  removed: Type.Optional(Type.Boolean()),
  removed_files: RemovedFiles,
  replaced: ReplacesFile,
  revision: Type.Optional(
    Type.String({ description: "SHA-256 of the file after the change; in a dry run, as it would be." }),
  ),
  to: Type.Optional(Type.String()),
});

const response = Type.Object(
  {
    committed: Type.Boolean(),
    plan: Type.Optional(Type.String({ description: "Send it to coder::commit to do exactly this." })),
    plan_expires_at: Type.Optional(UInt64({ description: "Seconds since 1970." })),
    results: Type.Array(Result),
    transaction: Type.Optional(
      Type.String({ description: "Its name. Absent when there was nothing to do." }),
    ),
  },
  { title: "TransactOutput" },
);

/** Maximum changes of one call. */
const maxChanges = 1000;

const of = (op: string, fields: object = {}) => ({ op, ...fields });
const [withoutParents, withParents] = [
  { overwrite: false, parents: false },
  { overwrite: true, parents: true },
];

/** `coder::transact`: several changes, all or none (coder §18). */
export const transact = defineCoderFunction({
  id: "coder::transact",
  since: "0.4.0",
  description:
    "Make several changes as one: all of them, or none. Each change is checked against the tree that the changes before it leave. The first failure is the error of the whole call, with its index in `details.change`, and nothing is changed.",
  summary: "several changes as one, all or none",
  brief:
    "Make several changes, in order, all or none. `create`: path, content. `update`: path, ops. `delete`: path. `move`, `copy`: from, to. `make-folder`: path. `chmod`: path, mode (octal). Other fields as in the tool for that. `dry_run` gives a plan for coder::commit.",
  effect: "writes",
  infersOperations: true,
  paths: [
    { at: "/changes/*/path", access: "create", when: of("create", withoutParents) },
    { at: "/changes/*/path", access: "replace", when: of("create", withParents) },
    { at: "/changes/*/path", access: "write", when: of("update") },
    { at: "/changes/*/path", access: "remove", when: of("delete", { recursive: false }) },
    { at: "/changes/*/path", access: "remove-tree", when: of("delete", { recursive: true }) },
    { at: "/changes/*/path", access: "make-folder", when: of("make-folder", { parents: false }) },
    { at: "/changes/*/path", access: "make-folder-tree", when: of("make-folder", { parents: true }) },
    { at: "/changes/*/path", access: "change-mode", when: of("chmod", { mode: "0640" }) },
    { at: "/changes/*/from", access: "move", when: of("move") },
    { at: "/changes/*/from", access: "copy", when: of("copy") },
    { at: "/changes/*/to", access: "create", when: of("move", withoutParents) },
    { at: "/changes/*/to", access: "replace", when: of("copy", withParents) },
  ],
  request,
  response,
  examples: [
    {
      title: "Rename a module, and what imports it",
      request: {
        changes: [
          { op: "move", from: "src/utils.ts", to: "src/text.ts" },
          {
            op: "update",
            path: "src/main.ts",
            ops: [{ op: "str_replace", old_str: "./utils.ts", new_str: "./text.ts" }],
          },
        ],
        label: "rename utils",
      },
    },
    {
      title: "Write a file out of a draft, and show the changes as diffs",
      request: {
        changes: [
          {
            op: "update",
            path: "README.md",
            ops: [{ op: "str_replace", old_str: "docs/draft.md", new_str: "docs/guide.md" }],
          },
          { op: "create", path: "docs/guide.md", content: "# Guide\n" },
          { op: "delete", path: "docs/draft.md" },
        ],
        answer: "diff",
      },
    },
    {
      title: "Only see what would be, and get a plan for it",
      request: {
        changes: [{ op: "delete", path: "build", recursive: true }],
        dry_run: true,
      },
    },
  ],
  answerBytes: ({ changes }) => changes.length * shownBytes,
  async handle({ changes, answer, dry_run: dryRun, label }, context) {
    if (changes.length === 0) throw refuse.emptyBatch("changes");
    if (changes.length > maxChanges) throw refuseTransacting.tooManyChanges(changes.length, maxChanges);
    const transaction: Transaction<ChangeResult[]> = {
      make: (context, tree) => makeChanges(changes, answer, { context, tree, isPlan: dryRun }),
      label,
      request: changes,
      named: {
        noun: "Change",
        paths: changes.map((change) => ("path" in change ? change.path : change.from)),
      },
    };
    const answerOf = (done: Done<ChangeResult[]>, { maxAnswerBytes }: CoderContext) =>
      committed(done, maxAnswerBytes);
    if (!dryRun) return answerOf(await runTransaction(transaction, context), context);
    const { value, ...plan } = await planTransaction(transaction, context, answerOf);
    const fitting = fitResults({ committed: false, ...plan }, value, context.maxAnswerBytes);
    return await runInSlices(fitting, createTimeSlice());
  },
  render: (answer, _, { changes }) => renderTransacted(answer, changes),
});

/** The estimated bytes of the answer for each change. */
const shownBytes = 5 * 1024;

async function committed(
  { value, transaction }: Done<ChangeResult[]>,
  maxAnswerBytes: number,
): Promise<Measured<Static<typeof response>>> {
  const name = transaction === undefined ? {} : { transaction };
  const fitting = fitResults({ committed: true, ...name }, value, maxAnswerBytes);
  return (await runInSlices(fitting, createTimeSlice())) as Measured<Static<typeof response>>;
}
