import { Type } from "@sinclair/typebox";
import { refuse } from "../errors.ts";
import { Named, Nullable } from "../schema/fragments.ts";
import { defineCoderFunction } from "./define.ts";

const request = Type.Object(
  {
    paths: Type.Array(Type.String()),
    recursive: Type.Boolean({
      default: false,
      description: "Required for non-empty directories. Files and empty dirs ignore it.",
    }),
  },
  { title: "DeleteFileInput" },
);

const DeleteFileResult = Named("DeleteFileResult", {
  error: Type.Optional(Nullable(Type.String())),
  path: Type.String(),
  removed: Type.Boolean(),
  success: Type.Boolean(),
});

const response = Type.Object({ results: Type.Array(DeleteFileResult) }, { title: "DeleteFileOutput" });

/** `coder::delete-file`: removes paths, each on its own (coder §8). */
export const deleteFile = defineCoderFunction({
  id: "coder::delete-file",
  publishedIn: "coder 0.2.0",
  description:
    "Remove one or more paths. Directories need `recursive: true`; missing paths are idempotent successes; recursive removal refuses to descend through non-accessible entries.",
  summary: "files, links and folders",
  effect: "writes",
  paths: [
    { at: "/paths/*", access: "remove", when: { recursive: false } },
    { at: "/paths/*", access: "remove-tree", when: { recursive: true } },
  ],
  isIdempotent: true,
  request,
  response,
  examples: [
    { title: "Two files", request: { paths: ["old.txt", "docs/draft.md"] } },
    { title: "A folder with everything in it", request: { paths: ["build"], recursive: true } },
  ],
  async handle({ paths, recursive }, context) {
    if (paths.length === 0) throw refuse.emptyBatch("paths");
    const results = [];
    for (const path of paths) {
      const outcome = await context.attempt(() => context.files.remove(path, { recursive }, context));
      results.push(
        "error" in outcome
          ? { path, success: false, removed: false, error: outcome.error }
          : { path, success: true, removed: outcome.value },
      );
    }
    return { results };
  },
  render: ({ results }) =>
    results
      .map(({ path, removed, error }) => `${path}: ${error ?? (removed ? "removed" : "was not there")}`)
      .join("\n"),
});
