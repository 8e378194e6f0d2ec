import { Type } from "@sinclair/typebox";
import { Named } from "../base/schema/fragments.ts";
import { copyPath } from "../filesystem/operations/copy.ts";
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

const CopyResult = Named("CopyResult", {
  copied: Type.Boolean(),
  dangling: LosesTarget,
  error: Type.Optional(EntryError),
  from: Type.String(),
  linked_to: LinkedTarget,
  replaced: ReplacesFile,
  revision: Revision,
  success: Type.Boolean(),
  to: Type.String(),
});

const response = Type.Object({ results: Type.Array(CopyResult) }, { title: "CopyOutput" });

/** `coder::copy`: copies of files, links and folders, each on its own (coder §12). */
export const copy = defineCoderFunction({
  id: "coder::copy",
  since: "0.4.0",
  description:
    "Copy one or more files, links or folders. Modes are kept, and links are copied as links. Without `overwrite` nothing is replaced; copying a path onto itself is a success with `copied: false`; a folder that holds non-accessible entries is not copied.",
  summary: "copies of files, links and folders",
  brief: "Copy files, links and whole folders, with the fields of coder::move.",
  effect: "writes",
  paths: [{ at: "/files/*/from", access: "copy" }, ...targetPaths],
  request: twoPathsRequest({
    spec: "CopySpec",
    title: "CopyInput",
    dryRun: "Check and answer, and copy nothing.",
  }),
  response,
  examples: [
    {
      title: "A configuration out of its example",
      request: { files: [{ from: "settings.example.yaml", to: "settings.yaml" }] },
    },
    {
      title: "Replace a file by a template",
      request: { files: [{ from: "templates/index.html", to: "public/index.html", overwrite: true }] },
    },
  ],
  async handle(request, context) {
    const results = [];
    for await (const { spec, outcome } of eachEntry(request, context, copyPath)) {
      const { from, to } = spec;
      if ("error" in outcome) {
        results.push({ from, to, success: false, copied: false, error: entryError(outcome.error) });
        continue;
      }
      const { isDone, ...replaced } = outcome.value;
      results.push({ from, to, success: true, copied: isDone, ...replaced, ...revisionLeft(spec) });
    }
    return { results };
  },
  render: ({ results }, { failure }, { dry_run: isTrial }) =>
    renderBatch({
      results,
      isTrial,
      failure,
      done: "copied",
      isDone: ({ copied }) => copied,
      nameOf: ({ from }) => from,
      render: (result) => renderTransfer(result, result.copied && "copied"),
    }),
});
