import { Type } from "@sinclair/typebox";
import { refuse } from "../errors.ts";
import { Named, Nullable } from "../schema/fragments.ts";
import { defineCoderFunction } from "./define.ts";

const MoveSpec = Named("MoveSpec", {
  from: Type.String(),
  overwrite: Type.Boolean({
    default: false,
    description:
      "When false (the default), refuse to move onto a file that exists. A folder is never replaced.",
  }),
  parents: Type.Boolean({ default: true, description: "Create missing parent directories of `to`." }),
  to: Type.String({ description: "The new path itself, not a folder to move into." }),
});

const request = Type.Object({ files: Type.Array(MoveSpec) }, { title: "MoveInput" });

const MoveResult = Named("MoveResult", {
  error: Type.Optional(Nullable(Type.String())),
  from: Type.String(),
  moved: Type.Boolean(),
  success: Type.Boolean(),
  to: Type.String(),
});

const response = Type.Object({ results: Type.Array(MoveResult) }, { title: "MoveOutput" });

/** `coder::move`: gives files, links and folders other paths, each on its own. */
export const move = defineCoderFunction({
  id: "coder::move",
  since: "0.4.0",
  description:
    "Move or rename one or more files, links or folders. Without `overwrite` nothing is replaced; moving a path onto itself is a success with `moved: false`; a folder that holds non-accessible entries is not moved.",
  summary: "other paths for files, links and folders",
  effect: "writes",
  paths: [
    { at: "/files/*/from", access: "move" },
    { at: "/files/*/to", access: "create", when: { overwrite: false, parents: false } },
    { at: "/files/*/to", access: "replace", when: { overwrite: true, parents: true } },
  ],
  request,
  response,
  examples: [
    { title: "Rename a file", request: { files: [{ from: "notes.md", to: "docs/notes.md" }] } },
    {
      title: "Replace a file by its draft",
      request: { files: [{ from: "draft.md", to: "README.md", overwrite: true }] },
    },
  ],
  async handle(request, context) {
    if (request.files.length === 0) throw refuse.emptyBatch("files");
    const results = [];
    for (const moving of request.files) {
      const { from, to } = moving;
      const outcome = await context.attempt(() => context.files.move(moving, context));
      results.push(
        "error" in outcome
          ? { from, to, success: false, moved: false, error: outcome.error }
          : { from, to, success: true, moved: outcome.value },
      );
    }
    return { results };
  },
  render: ({ results }) =>
    results
      .map(
        ({ from, to, moved, error }) =>
          `${from}: ${error ?? (moved ? `moved to ${to}` : "is there already")}`,
      )
      .join("\n"),
});
