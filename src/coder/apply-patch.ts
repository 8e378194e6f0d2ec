import { Type } from "@sinclair/typebox";
import { parsePatch } from "../patch/parse.ts";
import { type Patch, patchFormats } from "../patch/patch.ts";
import { requireUsualName } from "../requests/require-usual.ts";
import { Named, UInt32, UInt64 } from "../schema/fragments.ts";
import { defineCoderFunction } from "./define.ts";
import { inSlices } from "./editing/apply-ops.ts";
import { refuseCoder } from "./errors.ts";
import { Literal } from "./literal.ts";
import { resultsOf } from "./patching/answer.ts";
import { type PatchedEntry, patchTree } from "./patching/patch-tree.ts";
import { patchPaths } from "./patching/paths.ts";
import { type Done, planTransaction, runTransaction, type Transaction } from "./transacting/run.ts";
import { renderTransacted } from "./transacting/text.ts";

const request = Type.Object(
  {
    base_dir: Type.String({
      default: ".",
      description: "Folder that the names in the patch are relative to.",
    }),
    dry_run: Type.Boolean({
      default: false,
      description: "Check and answer, change nothing, and give a plan for coder::commit.",
    }),
    expected_revisions: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        isRare: true,
        description: 'By name in the patch: the revision that the file must have, or "absent".',
      }),
    ),
    format: Type.Union(
      ["auto", ...patchFormats].map((format) => Type.Literal(format)),
      { default: "auto" },
    ),
    literal: Literal(),
    patch: Type.String(),
  },
  { title: "ApplyPatchInput" },
);

const HunkEcho = Named("HunkEcho", {
  elided: Type.Optional(UInt64({ description: "Lines left out in the middle." })),
  from_line: UInt64({ description: "Number of the first line; 0 without lines." }),
  hunk: UInt32({ description: "Which hunk of the file, from 1." }),
  lines: Type.Array(Type.String()),
});

const PatchResult = Named("PatchResult", {
  echo: Type.Optional(Type.Array(HunkEcho, { description: "The lines around each hunk, of at most 4 KiB." })),
  echo_truncated: Type.Optional(Type.Boolean()),
  from: Type.Optional(Type.String({ description: "Where it was, or what it is a copy of." })),
  kind: Type.Union(["added", "modified", "deleted", "moved"].map((kind) => Type.Literal(kind))),
  new_line_count: Type.Optional(UInt64()),
  path: Type.String(),
  revision: Type.Optional(Type.String({ description: "SHA-256 of what the file is now." })),
});

const response = Type.Object(
  {
    committed: Type.Boolean(),
    plan: Type.Optional(Type.String({ description: "To do exactly this by coder::commit." })),
    plan_expires_at: Type.Optional(UInt64({ description: "Seconds since 1970." })),
    results: Type.Array(PatchResult),
    transaction: Type.Optional(
      Type.String({ description: "Its name. Absent when there was nothing to do." }),
    ),
  },
  { title: "ApplyPatchOutput" },
);

/** `coder::apply-patch`: a patch over many files, all or nothing (coder §19). */
export const applyPatch = defineCoderFunction({
  id: "coder::apply-patch",
  since: "0.4.0",
  description:
    "Apply a patch in the V4A format (`*** Begin Patch`) or a unified diff over one or more files: all of it, or nothing. Each hunk must fit in exactly one place: exactly, or else but for blanks at the ends of lines. One that does not is explained, and never guessed.",
  summary: "a patch in V4A or a unified diff over many files, all or nothing",
  brief:
    "Apply a patch, all or nothing: V4A (*** Begin Patch, *** Update File: path, @@ line above, lines with ' ', '-' or '+', *** End Patch; also *** Add File:, *** Delete File:, *** Move to:) or a unified diff. Each hunk must fit in exactly one place.",
  effect: "writes",
  paths: [{ at: "/base_dir", access: "list", when: { dry_run: true } }, ...patchPaths],
  request,
  response,
  examples: [
    {
      title: "Change a function and add a file",
      request: {
        patch:
          "*** Begin Patch\n*** Update File: src/main.ts\n@@ function main() {\n-  const timeout = 30;\n+  const timeout = 60;\n   start(timeout);\n*** Add File: docs/timeouts.md\n+# Timeouts\n+The start takes up to a minute.\n*** End Patch\n",
      },
    },
    {
      title: "Try a unified diff below a folder",
      request: {
        patch: "--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+# Notes\n",
        format: "unified",
        base_dir: "docs",
        dry_run: true,
      },
    },
  ],
  answerBytes: () => shownBytes,
  async handle({ patch: text, format, base_dir: baseDir, dry_run: dryRun, ...rest }, context) {
    const patch = await inSlices(parsePatch(Buffer.from(text), format as "auto"), context.deadline);
    const expectedRevisions = rest.expected_revisions ?? {};
    requireFiles(patch, Object.keys(expectedRevisions));
    const { requestRules: rules } = context;
    if (rules?.isForgiving && !rest.literal)
      for (const name of newNames(patch)) requireUsualName(name, rules.places);
    const transaction: Transaction<PatchedEntry[]> = {
      make: (context, tree) => patchTree(tree, { patch, baseDir, expectedRevisions }, context),
      request: text,
      named: { noun: "File", paths: patch.files.map(({ path }) => path) },
    };
    if (!dryRun) return committed(await runTransaction(transaction, context));
    const { value, ...plan } = await planTransaction(transaction, context, committed);
    return { committed: false, ...plan, results: resultsOf(value) };
  },
  render: (answer) => renderTransacted(answer),
});

/** About what the answer takes. */
const shownBytes = 256 * 1024;

/** Files of one patch. */
const mostFiles = 1000;

function requireFiles({ files }: Patch, expected: readonly string[]): void {
  if (files.length > mostFiles) throw refuseCoder.tooManyPatchedFiles(files.length, mostFiles);
  const names = new Set(files.map(({ path }) => path));
  const stray = expected.find((name) => !names.has(name));
  if (stray !== undefined) throw refuseCoder.strayPatchRevision(stray);
}

/** The names that the patch makes. */
const newNames = ({ files }: Patch): string[] =>
  files.flatMap((file) => {
    if (file.change === "add") return [file.path];
    return file.change === "update" && file.target !== undefined ? [file.target.path] : [];
  });

const committed = ({ value, transaction }: Done<PatchedEntry[]>) => ({
  committed: true,
  results: resultsOf(value),
  ...(transaction !== undefined && { transaction }),
});
