import { posix } from "node:path";
import { Type } from "@sinclair/typebox";
import { Refusal, refuse } from "../base/errors.ts";
import { createTimeSlice, runInSlices, type Steps } from "../base/scheduling/time-slice.ts";
import { Named, Nullable, UInt64 } from "../base/schema/fragments.ts";
import type { Entry } from "../filesystem/files/types.ts";
import { explainStop } from "../filesystem/operations/partly-removed.ts";
import { removePath } from "../filesystem/operations/remove.ts";
import type { RemovalProgress } from "../filesystem/operations/require-allowed.ts";
import { isUnrecorded } from "./checkpoints/with-checkpoint.ts";
import { refuseCoder } from "./coder-errors.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { contextOfEntries, DryRun } from "./fields/dry-run.ts";
import { expecting } from "./fields/revisions.ts";
import { renderBatch } from "./render/batch-text.ts";
import { renderPath } from "./render/entry-text.ts";

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

/** The number of files in a folder that was removed, in the profile `agent`. */
export const RemovedFiles = Type.Optional(
  UInt64({ since: "0.4.0", description: "Files and links in a folder that was removed." }),
);

const DeleteFileResult = Named("DeleteFileResult", {
  error: Type.Optional(Nullable(Type.String())),
  path: Type.String(),
  removed: Type.Boolean(),
  removed_files: RemovedFiles,
  success: Type.Boolean(),
  undo: Type.Optional(
    Type.Literal("unavailable", {
      since: "0.4.0",
      description: "The journal does not keep everything that was removed.",
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
  async handle({ paths, recursive, dry_run: isTrial, expected_revisions: expected }, context) {
    if (paths.length === 0) throw refuse.emptyBatch("paths");
    const revisions = await runInSlices(revisionsOf(paths, expected), createTimeSlice());
    const says = isTrial || expected !== undefined || context.profile.journal;
    const entries = contextOfEntries(context, isTrial);
    const results = [];
    for (const path of paths) {
      const lost = lossesSoFar(context);
      const removal = { path, recursive, expectedRevision: revisions.get(plainForm(path)) };
      const outcome = await entries.attempt(() => removeOne(removal, entries));
      results.push(
        "error" in outcome
          ? { path, success: false, removed: false, error: outcome.error.text }
          : {
              path,
              success: true,
              ...outcome.value,
              ...(says && lossesSoFar(context) !== lost && unavailable),
            },
      );
    }
    return { results };
  },
  render: (answer, { failure }, { dry_run: isTrial }) => {
    // The last line of the answer says it for all entries.
    const hidesUndo = isUnrecorded(answer) && !isTrial;
    return renderBatch({
      ...{ results: answer.results, isTrial, failure },
      done: "deleted",
      isDone: ({ removed }) => removed,
      nameOf: ({ path }) => path,
      render: ({ undo, ...result }) =>
        renderRemoval(undo === undefined || hidesUndo ? result : { ...result, undo }),
    });
  },
});

/** Returns the revisions by the plain forms of their paths. Throws a refusal for one of another path. */
function* revisionsOf(
  paths: readonly string[],
  expected: Readonly<Record<string, string>> | undefined,
): Steps<ReadonlyMap<string, string>> {
  const revisions = new Map<string, string>();
  if (expected === undefined) return revisions;
  const known = new Set<string>();
  for (const [index, path] of paths.entries()) {
    known.add(plainForm(path));
    if (index % pathsPerStep === 0) yield;
  }
  for (const [index, [path, revision]] of Object.entries(expected).entries()) {
    const plain = plainForm(path);
    if (!known.has(plain)) throw refuseCoder.strayRevision(path);
    revisions.set(plain, revision);
    if (index % pathsPerStep === 0) yield;
  }
  return revisions;
}

/** Paths that are compared in one step. */
const pathsPerStep = 4096;

/** Returns a path without parts that lead nowhere, such as the first of `./a`. */
const plainForm = (path: string): string => posix.normalize(path).replace(/(?<=.)\/$/, "");

/** Returns the number of changes of this call that cannot be undone, or could not be if it made them. */
const lossesSoFar = (context: CoderContext): number =>
  context.lossesOf(context) + (context.forecast?.count ?? 0);

const unavailable = { undo: "unavailable" } as const;

interface Removal {
  readonly path: string;
  readonly recursive: boolean;
  readonly expectedRevision: string | undefined;
}

interface Removed {
  readonly removed: boolean;
  readonly removed_files?: number;
}

/** Removes the entry at one path, and counts the files in a folder if the profile requires it. */
export async function removeOne({ path, ...options }: Removal, context: CoderContext): Promise<Removed> {
  let files: number | undefined;
  const onEntry = ({ kind }: Entry) => {
    files = (files ?? 0) + (kind === "dir" ? 0 : 1);
  };
  const linkMayLeadAnywhere = context.profile.links_lead_anywhere;
  const progress: RemovalProgress = { removed: 0 };
  const work = async () => {
    try {
      return await removePath(
        context.tree,
        { path, ...options, linkMayLeadAnywhere, onEntry, progress },
        context,
      );
    } catch (error) {
      if (!(error instanceof Refusal) || !context.profile.explained_errors) throw error;
      const seq = context.journal?.checkpointOf(context);
      throw explainStop(error, path, progress, { seq, paths: [path], losses: context.lossesOf(context) });
    }
  };
  const removed = await expecting(work, { path, expected: options.expectedRevision }, context);
  const isCounted = removed && files !== undefined && context.profile["delete-file.counts"];
  return { removed, ...(isCounted && { removed_files: files! }) };
}

interface RemovedPath extends Removed {
  readonly path: string;
  readonly undo?: string;
}

/** Returns what is likely meant by a path with the form of a glob, of a folder, or of undecodable bytes. */
function explainAbsent(path: string): string {
  if (/[*?[{]/.test(path))
    return " (a path and not a glob; a search with include_globs lists the paths that match)";
  if (path.includes("\ufffd")) return " (if its name is not UTF-8, only its folder can be deleted)";
  return path.endsWith("/") ? ' (with "/" at its end it is a folder)' : "";
}

/** Renders one line about a path that was removed, or did not exist. */
export function renderRemoval({ path, removed, removed_files: files, undo }: RemovedPath): string {
  const count = files === undefined ? "" : `, with ${files} ${files === 1 ? "file" : "files"} in it`;
  const loss = undo === undefined ? "" : ", and cannot be undone";
  return `${renderPath(path)}: ${removed ? `removed${count}` : `was not there${explainAbsent(path)}`}${loss}`;
}
