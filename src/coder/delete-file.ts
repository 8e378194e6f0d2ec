import { Type } from "@sinclair/typebox";
import { refuse } from "../errors.ts";
import { Named, Nullable } from "../schema/fragments.ts";
import { summarizeBatch } from "./batch-text.ts";
import { type ChangeContext, defineCoderFunction } from "./define.ts";
import { DryRun } from "./dry-run.ts";
import { refuseCoder } from "./errors.ts";
import { expecting } from "./revisions.ts";

const request = Type.Object(
  {
    dry_run: DryRun,
    paths: Type.Array(Type.String()),
    expected_revisions: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        since: "0.4.0",
        description: "By path: the revision that the file must have.",
      }),
    ),
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
  undo: Type.Optional(
    Type.Literal("unavailable", {
      since: "0.4.0",
      description: "The journal does not keep all of what was removed.",
    }),
  ),
});

const response = Type.Object({ results: Type.Array(DeleteFileResult) }, { title: "DeleteFileOutput" });

/** `coder::delete-file`: removes paths, each on its own (coder §8). */
export const deleteFile = defineCoderFunction({
  id: "coder::delete-file",
  publishedIn: "coder 0.2.0",
  description:
    "Remove one or more paths. Directories need `recursive: true`; missing paths are idempotent successes; recursive removal refuses to descend through non-accessible entries.",
  summary: "files, links and folders",
  brief:
    "Delete files, links and folders; a folder that is not empty needs `recursive`. Missing paths are not an error.",
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
  async handle({ paths, recursive, dry_run: dryRun, expected_revisions: expected }, context) {
    if (paths.length === 0) throw refuse.emptyBatch("paths");
    const stray = Object.keys(expected ?? {}).find((path) => !paths.includes(path));
    if (stray !== undefined) throw refuseCoder.strayRevision(stray);
    const says = dryRun || expected !== undefined || context.profile.journal;
    const results = [];
    for (const path of paths) {
      const lost = context.journal?.lossesOf(context);
      const removal = { path, recursive, dryRun, expectedRevision: expected?.[path] };
      const outcome = await context.attempt(() => removeOne(removal, context));
      results.push(
        "error" in outcome
          ? { path, success: false, removed: false, error: outcome.error.text }
          : {
              path,
              success: true,
              removed: outcome.value,
              ...(says && context.journal?.lossesOf(context) !== lost && unavailable),
            },
      );
    }
    return { results };
  },
  render: ({ results }, { failure }, { dry_run: isTrial }) =>
    [
      ...summarizeBatch({
        results,
        isTrial,
        done: "deleted",
        isDone: ({ removed }) => removed,
        nameOf: ({ path }) => path,
      }),
      ...results.map(({ path, removed, error, undo }) =>
        error
          ? failure(error, path)
          : `${path}: ${removed ? "removed" : "was not there"}${undo === undefined ? "" : ", and cannot be undone"}`,
      ),
    ].join("\n"),
});

const unavailable = { undo: "unavailable" } as const;

interface Removal {
  readonly path: string;
  readonly recursive: boolean;
  readonly dryRun?: boolean;
  readonly expectedRevision: string | undefined;
}

/** Removes what is at one path. */
export async function removeOne({ path, ...options }: Removal, context: ChangeContext): Promise<boolean> {
  const work = () => context.files.remove(path, options, context);
  return await expecting(work, { path, expected: options.expectedRevision }, context);
}
