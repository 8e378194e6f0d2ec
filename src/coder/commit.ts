import { Type } from "@sinclair/typebox";
import { defineCoderFunction } from "./define.ts";
import { NotReplaced, ReplacedFileFields, renderReplaced } from "./replace.ts";
import { renderTransacted } from "./transact/text.ts";
import { refuseTransacting } from "./transact/transact-errors.ts";

const request = Type.Object(
  { plan: Type.String({ description: "The `plan` in the answer of a dry run." }) },
  { title: "CommitInput" },
);

const response = Type.Object(
  {
    committed: Type.Boolean(),
    files: Type.Optional(
      Type.Array(ReplacedFileFields, { description: "Of a plan of coder::replace: the files with matches." }),
    ),
    not_replaced: Type.Optional(NotReplaced),
    results: Type.Array(Type.Unknown(), {
      description: "As the planned call answers without `dry_run`.",
    }),
    transaction: Type.Optional(
      Type.String({ description: "Its name. Absent when there was nothing to do." }),
    ),
  },
  { title: "CommitOutput" },
);

/** `coder::commit`: does what a dry run has shown (coder §18). */
export const commit = defineCoderFunction({
  id: "coder::commit",
  since: "0.4.0",
  description:
    "Do exactly what a dry run of coder::transact, coder::apply-patch or coder::replace has shown, once. If a file has changed since, or the plan is older than 10 minutes, nothing is changed and the error is C221.",
  summary: "exactly what a dry run showed",
  brief: "Do exactly what the dry run that returned this `plan` showed, or nothing if a file changed since.",
  effect: "writes",
  paths: [],
  request,
  response,
  examples: [{ title: "Carry out a plan", request: { plan: "0f1e2d3c4b5a69788796a5b4c3d2e1f0" } }],
  async handle({ plan: sent }, context) {
    // The answer of a dry run as text has the line `plan 0f1e…`.
    const plan = sent.trim().replace(/^plan\s+/, "");
    if (!/^[\da-f]{32}$/.test(plan)) throw refuseTransacting.badPlan(sent);
    const done = await context.plans?.carryOut(plan, context);
    if (done === undefined) throw refuseTransacting.noPlan(plan);
    return done.answer as never;
  },
  render: (answer, { sentence }) =>
    "files" in answer ? renderReplaced(answer as never, sentence) : renderTransacted(withoutLines(answer)),
});

/** Leaves out the lines of each file, which the dry run has shown. */
const withoutLines = <Answer extends { readonly results: readonly unknown[] }>(answer: Answer): Answer => ({
  ...answer,
  results: answer.results.map((result) => {
    const { echo: _, echoes: __, diff: ___, ...rest } = result as Readonly<Record<string, unknown>>;
    return rest;
  }),
});
