import { Type } from "@sinclair/typebox";
import { refuse } from "../base/errors.ts";
import { Named } from "../base/schema/fragments.ts";
import { makeFolderAt } from "../filesystem/operations/make-folder.ts";
import { defineCoderFunction } from "./define.ts";
import { EntryError, entryError } from "./error-codes.ts";
import { contextOfEntries } from "./fields/dry-run.ts";
import { Literal } from "./fields/literal.ts";
import { permissionBits } from "./fields/permission-bits.ts";
import { explainMissingFolder } from "./missing-paths/missing-folder.ts";
import { renderBatch } from "./render/batch-text.ts";
import { renderPath } from "./render/entry-text.ts";

const request = Type.Object(
  {
    dry_run: Type.Boolean({ default: false, description: "Check and answer, but create nothing." }),
    literal: Literal(),
    mode: Type.Optional(
      Type.String({
        description: "Octal permission bits of each new folder in `paths`. Default: that of the profile.",
      }),
    ),
    parents: Type.Boolean({ default: true, description: "Create missing parent directories." }),
    paths: Type.Array(Type.String()),
  },
  { title: "MakeFolderInput" },
);

const MakeFolderResult = Named("MakeFolderResult", {
  created: Type.Boolean(),
  error: Type.Optional(EntryError),
  path: Type.String(),
  success: Type.Boolean(),
});

const response = Type.Object({ results: Type.Array(MakeFolderResult) }, { title: "MakeFolderOutput" });

/** `coder::make-folder`: folders, each on its own (coder §12). */
export const makeFolder = defineCoderFunction({
  id: "coder::make-folder",
  since: "0.4.0",
  description:
    "Create one or more folders. A folder that exists is a success with `created: false`, and keeps its mode.",
  summary: "folders, with those above them",
  brief: "Create folders, with those above them. Existing folders are not an error.",
  isRare: true,
  effect: "writes",
  paths: [
    { at: "/paths/*", access: "make-folder", when: { parents: false } },
    { at: "/paths/*", access: "make-folder-tree", when: { parents: true } },
  ],
  isAdditive: true,
  isIdempotent: true,
  request,
  response,
  examples: [
    { title: "A folder and those above it", request: { paths: ["src/models/user"] } },
    { title: "A private folder", request: { paths: ["drafts"], mode: "0700" } },
  ],
  async handle({ paths, mode, parents, dry_run: isTrial }, context) {
    if (paths.length === 0) throw refuse.emptyBatch("paths");
    const bits = permissionBits(mode, context.profile["make-folder.mode"]);
    const options = { mode: bits, parents, mayExist: true };
    const entries = contextOfEntries(context, isTrial);
    const results = [];
    for (const path of paths) {
      const make = () => makeFolderAt(entries.tree, { path, ...options }, entries);
      const outcome = await entries.attempt(() => explainMissingFolder(make, { path, parents }, entries));
      results.push(
        "error" in outcome
          ? { path, success: false, created: false, error: entryError(outcome.error) }
          : { path, success: true, created: outcome.value },
      );
    }
    return { results };
  },
  render: ({ results }, { failure }, { dry_run: isTrial }) =>
    renderBatch({
      ...{ results, failure, isTrial },
      done: "created",
      isDone: ({ created }) => created,
      nameOf: ({ path }) => path,
      render: ({ path, created }) => `${renderPath(path)}: ${created ? "created" : "was there already"}`,
    }),
});
