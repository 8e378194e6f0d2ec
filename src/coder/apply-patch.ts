import { Type } from "@sinclair/typebox";
import type { Steps } from "../base/scheduling/time-slice.ts";
import { Int64, Named, UInt32, UInt64 } from "../base/schema/fragments.ts";
import { requireUsualNames } from "../calls/requests/require-usual.ts";
import { encodeUtf8 } from "../text/edits/text.ts";
import { requestedEncoding } from "../text/encodings/requested-encoding.ts";
import { parsePatch } from "../text/patch/parse.ts";
import { type Patch, type PatchFormat, patchFormats } from "../text/patch/patch.ts";
import { reversePatch } from "../text/patch/reverse.ts";
import { resultsOf } from "./apply-patch/answer.ts";
import { type PatchedEntry, patchTree } from "./apply-patch/patch-tree.ts";
import { patchPaths } from "./apply-patch/paths.ts";
import { refuseCoder } from "./coder-errors.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { FileEncoding } from "./fields/file-encoding.ts";
import { LosesTarget } from "./fields/links.ts";
import { Literal } from "./fields/literal.ts";
import { ReplacesFile } from "./fields/two-paths.ts";
import { type Done, planTransaction, runTransaction, type Transaction } from "./transact/run-transaction.ts";
import { renderTransacted } from "./transact/text.ts";
import { inSlices } from "./update-file/apply-ops.ts";

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
    encoding: FileEncoding(),
    expected_revisions: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        isRare: true,
        description: 'By name in the patch: the revision that the file must have, or "absent".',
      }),
    ),
    format: Type.Union(
      ["auto", ...patchFormats].map((format) => Type.Literal(format)),
      { default: "auto", isRare: true },
    ),
    literal: Literal(),
    overwrite: Type.Boolean({
      default: false,
      description: "Replace files at the paths of new, moved or copied ones.",
      isRare: true,
    }),
    patch: Type.Optional(Type.String()),
    patch_path: Type.Optional(
      Type.String({ description: "A file with the patch, instead of `patch`.", isRare: true }),
    ),
    reverse: Type.Boolean({ default: false, description: "Undo the patch.", isRare: true }),
    strip: Type.Optional(
      UInt32({
        description: "Leading parts to remove from names of a unified diff. Absent: found by what exists.",
        isRare: true,
      }),
    ),
  },
  { title: "ApplyPatchInput" },
);

const HunkEcho = Named("HunkEcho", {
  elided: Type.Optional(UInt64({ description: "Lines left out in the middle." })),
  from_line: UInt64({ description: "Number of the first line; 0 without lines." }),
  hunk: UInt32({ description: "Which hunk of the file, from 1." }),
  lines: Type.Array(Type.String()),
});

const PlacedHunk = Named("PlacedHunk", {
  also_at: Type.Optional(
    Type.Array(UInt64(), { description: "First lines of at most 3 other places where it fits." }),
  ),
  hunk: UInt32({ description: "Which hunk of the file, from 1." }),
  indented: Type.Optional(Type.String({ description: "The blanks added to its new lines, as in the file." })),
  line: UInt64({ description: "Its first line in the file afterwards." }),
  offset: Type.Optional(
    Int64({ description: "Distance in lines from where its header says; negative: before." }),
  ),
  outdented: Type.Optional(Type.String({ description: "The blanks removed from its new lines." })),
  typographic: Type.Optional(
    Type.Boolean({ description: "Whether the file differs from it in typographic characters." }),
  ),
});

const PatchResult = Named("PatchResult", {
  echo: Type.Optional(Type.Array(HunkEcho, { description: "The lines around each hunk, of at most 4 KiB." })),
  echo_truncated: Type.Optional(Type.Boolean()),
  from: Type.Optional(Type.String({ description: "Where it was, or what it is a copy of." })),
  kind: Type.Union(["added", "modified", "deleted", "moved"].map((kind) => Type.Literal(kind))),
  line_ends: Type.Optional(Type.String({ description: "The line ends, unless LF." })),
  line_ends_changed: Type.Optional(Type.Boolean()),
  mode: Type.Optional(Type.String({ description: "The octal permission bits that the patch sets." })),
  more_placed: Type.Optional(UInt64({ description: "The number of hunks left out of `placed`." })),
  new_line_count: Type.Optional(UInt64()),
  path: Type.String(),
  placed: Type.Optional(
    Type.Array(PlacedHunk, { description: "Hunks that were applied in another form or place than written." }),
  ),
  replaced: ReplacesFile,
  dangling: LosesTarget,
  revision: Type.Optional(
    Type.String({ description: "SHA-256 of the file after the change; in a dry run, as it would be." }),
  ),
  text_notes: Type.Optional(
    Type.Array(Type.String(), {
      description: "The encoding unless UTF-8, BOM, a missing newline at the end.",
    }),
  ),
});

const response = Type.Object(
  {
    committed: Type.Boolean(),
    plan: Type.Optional(Type.String({ description: "Send it to coder::commit to do exactly this." })),
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
    "Apply a patch in the V4A format (`*** Begin Patch`) or a unified diff over one or more files: all of it, or nothing. Each hunk must fit in exactly one place, or where its line numbers say, exactly or except for blanks at the ends of lines. A hunk that does not fit is explained, never guessed.",
  summary: "a patch in V4A or a unified diff over many files, all or nothing",
  brief:
    "Apply a patch, all or nothing: V4A (*** Begin Patch, *** Update File: path, @@ line above, lines with ' ', '-' or '+', *** End Patch; also *** Add File:, *** Delete File:, *** Move to:) or a unified diff. Each hunk must fit in one place, or at its @@ line.",
  effect: "writes",
  paths: [
    { at: "/base_dir", access: "list", when: { dry_run: true } },
    { at: "/patch_path", access: "read" },
    ...patchPaths,
  ],
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
    {
      title: "Take back a patch that lies in the tree",
      request: { patch_path: "fixes/timeout.patch", reverse: true },
    },
  ],
  answerBytes: () => shownBytes,
  async handle({ format, base_dir: baseDir, dry_run: dryRun, overwrite, strip, ...rest }, context) {
    const encoding = requestedEncoding(rest.encoding);
    const { text, parsed } = await inSlices(
      readPatch({ ...rest, format: format as "auto" }, context),
      context.deadline,
    );
    requireFiles(parsed);
    const patch = rest.reverse ? reversePatch(parsed) : parsed;
    const expectedRevisions = rest.expected_revisions ?? {};
    const { requestRules: rules } = context;
    if (rules?.isForgiving && !rest.literal)
      await inSlices(requireUsualNames(newNames(patch), rules.places), context.deadline);
    const transaction: Transaction<PatchedEntry[]> = {
      make: (context, tree) =>
        patchTree(
          tree,
          { patch, baseDir, encoding, expectedRevisions, strip, overwrite, isPlan: dryRun },
          context,
        ),
      request: text,
      named: { noun: "File", paths: patch.files.map(({ path }) => path) },
    };
    if (!dryRun) return committed(await runTransaction(transaction, context), context);
    const { value, ...plan } = await planTransaction(transaction, context, committed);
    return { committed: false, ...plan, results: resultsOf(value, context.profile["apply-patch.notes"]) };
  },
  render: (answer) => renderTransacted(answer),
});

/** The estimated bytes of the answer. */
const shownBytes = 256 * 1024;

/** Maximum number of files in one patch. */
const maxFiles = 1000;

function requireFiles({ files }: Patch): void {
  if (files.length > maxFiles) throw refuseCoder.tooManyPatchedFiles(files.length, maxFiles);
}

interface SentPatch {
  readonly format: PatchFormat | "auto";
  readonly patch?: string;
  readonly patch_path?: string;
}

/** Reads the patch, and returns its text too. */
function* readPatch(sent: SentPatch, context: CoderContext): Steps<{ text: Buffer; parsed: Patch }> {
  const text = yield* textOf(sent, context);
  yield;
  return { text, parsed: yield* parsePatch(text, sent.format) };
}

/**
 * Returns the text, from the request or from a file of the tree. Throws bad-input for both and for neither.
 */
function* textOf({ patch, patch_path: path }: SentPatch, { files, config }: CoderContext): Steps<Buffer> {
  if (patch !== undefined && path !== undefined) throw refuseCoder.patchAndPath();
  if (patch !== undefined) return yield* encodeUtf8(patch);
  if (path === undefined) throw refuseCoder.noPatch();
  const limit = { key: "max_read_bytes", bytes: config.max_read_bytes } as const;
  return files.read(path, limit, (bytes) => Buffer.from(bytes));
}

/** Returns the names that the patch creates. */
const newNames = ({ files }: Patch): string[] =>
  files.flatMap((file) => {
    if (file.change === "add") return [file.path];
    return file.change === "update" && file.target !== undefined ? [file.target.path] : [];
  });

const committed = ({ value, transaction }: Done<PatchedEntry[]>, { profile }: CoderContext) => ({
  committed: true,
  results: resultsOf(value, profile["apply-patch.notes"]),
  ...(transaction !== undefined && { transaction }),
});
