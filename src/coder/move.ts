import { Type } from "@sinclair/typebox";
import { Named } from "../base/schema/fragments.ts";
import { movePath } from "../filesystem/operations/move.ts";
import { defineCoderFunction } from "./define.ts";
import { EntryError, entryError } from "./error-codes.ts";
import { LinkedTarget, LosesTarget } from "./fields/links.ts";
import { Revision } from "./fields/revisions.ts";
import {
  eachEntry,
  ReplacesFile,
  renderTransfer,
  revisionLeft,
  targetPaths,
  twoPathsRequest,
} from "./fields/two-paths.ts";
import { renderBatch } from "./render/batch-text.ts";

const MoveResult = Named("MoveResult", {
  dangling: LosesTarget,
  error: Type.Optional(EntryError),
  from: Type.String(),
  linked_to: LinkedTarget,
  moved: Type.Boolean(),
  replaced: ReplacesFile,
  revision: Revision,
  success: Type.Boolean(),
  to: Type.String(),
});

const response = Type.Object({ results: Type.Array(MoveResult) }, { title: "MoveOutput" });

/** `coder::move`: gives files, links and folders other paths, each on its own (coder §12). */
export const move = defineCoderFunction({
  id: "coder::move",
  since: "0.4.0",
  description:
    "Move or rename one or more files, links or folders. Without `overwrite` nothing is replaced; moving a path onto itself is a success with `moved: false`; a folder that holds non-accessible entries is not moved.",
  summary: "other paths for files, links and folders",
  brief:
    "Move or rename files, links and folders, each to the path `to`. An existing file is an error without `overwrite`, an existing folder always.",
  effect: "writes",
  paths: [{ at: "/files/*/from", access: "move" }, ...targetPaths],
  request: twoPathsRequest({
    spec: "MoveSpec",
    title: "MoveInput",
    dryRun: "Check and answer, and move nothing.",
  }),
  response,
  examples: [
    { title: "Rename a file", request: { files: [{ from: "notes.md", to: "docs/notes.md" }] } },
    {
      title: "Replace a file by its draft",
      request: { files: [{ from: "draft.md", to: "README.md", overwrite: true }] },
    },
  ],
  async handle(request, context) {
    const results = [];
    for await (const { spec, outcome } of eachEntry(request, context, movePath)) {
      const { from, to } = spec;
      if ("error" in outcome) {
        results.push({ from, to, success: false, moved: false, error: entryError(outcome.error) });
        continue;
      }
      const { isDone, ...replaced } = outcome.value;
      results.push({ from, to, success: true, moved: isDone, ...replaced, ...revisionLeft(spec) });
    }
    return { results };
  },
  render: ({ results }, { failure }, { dry_run: isTrial }) =>
    renderBatch({
      results,
      isTrial,
      failure,
      done: "moved",
      isDone: ({ moved }) => moved,
      nameOf: ({ from }) => from,
      render: (result) => renderTransfer(result, result.moved && "moved"),
    }),
});
