import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { refuse } from "../base/errors.ts";
import type { Steps } from "../base/scheduling/time-slice.ts";
import { Named, Nullable, UInt64 } from "../base/schema/fragments.ts";
import { revisionOfBytes } from "../filesystem/files/revision.ts";
import { type CreationOptions, createFileAt, FileCreation } from "../filesystem/operations/create.ts";
import {
  bytesOfContent,
  ContentEncoding,
  type EncodedContent,
  isEncodingOfContent,
  renderEncoding,
} from "./create-file/content-encoding.ts";
import { keptMark, notesOnReplaced, type TextForm, textFormOf } from "./create-file/replaced-text.ts";
import { type CoderContext, defineCoderFunction } from "./define.ts";
import { contextOfEntries, DryRun } from "./fields/dry-run.ts";
import { withoutForeignEncodings } from "./fields/file-encoding.ts";
import { refuseFileEncoding } from "./fields/file-encoding-errors.ts";
import { notesOnLinks } from "./fields/links.ts";
import { Literal } from "./fields/literal.ts";
import { permissionBits } from "./fields/permission-bits.ts";
import { ExpectedRevision, expecting, Revision } from "./fields/revisions.ts";
import { Unchanged } from "./fields/unchanged.ts";
import { explainMissingFolder } from "./missing-paths/missing-folder.ts";
import { wrapFlatEnvelope } from "./profiles.ts";
import { renderBatch } from "./render/batch-text.ts";
import { countBytes, noteBlanks, renderPath } from "./render/entry-text.ts";
import { inSlices } from "./update-file/apply-ops.ts";
import { withNotes } from "./update-file/edit-file.ts";

const mode = {
  published: Type.String({
    default: "0644",
    description: 'Octal permission bits as a string, e.g. "0644". Defaults to "0644".',
  }),
  /** The default depends on the profile. */
  optional: Type.Optional(
    Type.String({ description: "Octal permission bits. Default: that of the profile." }),
  ),
};

const specFields = {
  content: Type.String(),
  encoding: ContentEncoding,
  expected_revision: ExpectedRevision('Of the file to overwrite, or "absent" for none.'),
  overwrite: Type.Boolean({
    default: false,
    description: "When false (the default), refuse to write if `path` already exists.",
  }),
  parents: Type.Boolean({
    default: true,
    description:
      "Create missing parent directories. Defaults to true so a single `coder::create-file` call can scaffold a fresh subtree.",
  }),
  path: Type.String(),
};

const CreateFileSpec = Named("CreateFileSpec", { ...specFields, mode: mode.optional });

const requestOf = <Spec extends TSchema>(spec: Spec) =>
  Type.Object(
    { dry_run: DryRun, files: Type.Array(spec), literal: Literal({ since: "0.4.0" }) },
    { title: "CreateFileInput" },
  );

const CreateFileResult = Named("CreateFileResult", {
  bytes_written: UInt64(),
  encoding: Type.Optional(
    Type.String({
      since: "0.4.0",
      description: "Of a text that is not in UTF-8.",
    }),
  ),
  error: Type.Optional(Nullable(Type.String())),
  path: Type.String(),
  revision: Revision,
  success: Type.Boolean(),
  text_notes: Type.Optional(
    Type.Array(Type.String(), {
      since: "0.4.0",
      description:
        "How the text differs in form from the file that it replaced, and the file that a link led to, in the profile `agent`.",
    }),
  ),
  unchanged: Unchanged,
});

const response = Type.Object({ results: Type.Array(CreateFileResult) }, { title: "CreateFileOutput" });

/** `coder::create-file`: new files, each on its own (coder §8). */
export const createFile = defineCoderFunction({
  id: "coder::create-file",
  publishedIn: "coder 0.2.0",
  description:
    "Create one or more files. Per-file `overwrite` and `parents` flags; non-accessible paths return C211.",
  summary: "new files, with their folders",
  brief:
    "Write files, with the folders they need. One that exists is an error without `overwrite`. `mode` is octal.",
  effect: "writes",
  paths: [
    { at: "/files/*/path", access: "create", when: { overwrite: false, parents: false } },
    { at: "/files/*/path", access: "replace", when: { overwrite: true, parents: true } },
  ],
  isIdempotent: true,
  request: requestOf(CreateFileSpec),
  published: requestOf(Named("CreateFileSpec", { ...specFields, mode: mode.published })),
  response,
  examples: [
    {
      title: "One file, with its folders",
      request: { files: [{ path: "docs/notes.md", content: "# Notes\n" }] },
    },
    {
      title: "Replace a script",
      request: { files: [{ path: "run.sh", content: "#!/bin/sh\n", mode: "0755", overwrite: true }] },
    },
  ],
  hasFlatEnvelope: true,
  *normalize(payload, { profile }) {
    const known = profile["encodings.are_checked"]
      ? payload
      : yield* withoutForeignEncodings(payload, isEncodingOfContent);
    return wrapFlatEnvelope(known, "content", profile);
  },
  async handle(request, context) {
    if (request.files.length === 0) throw refuse.emptyBatch("files");
    const entries = contextOfEntries(context, request.dry_run);
    const results = [];
    for (const spec of request.files) {
      const { path, expected_revision: expected } = spec;
      const outcome = await entries.attempt(() => createOne(spec, entries));
      const hasRevision = expected !== undefined || context.profile.revisions_of_writes;
      results.push(
        "error" in outcome
          ? { path, success: false, bytes_written: 0, error: outcome.error.text }
          : {
              path,
              success: true,
              bytes_written: outcome.value.bytes.length,
              ...withoutBytes(outcome.value),
              ...(hasRevision && { revision: revisionOfBytes([outcome.value.bytes]) }),
            },
      );
    }
    return { results };
  },
  render: ({ results }, { failure }, { dry_run: isTrial, files = [], ...flat }) =>
    renderBatch({
      results,
      isTrial,
      failure,
      done: "created",
      isDone: ({ unchanged: isUnchanged }) => !isUnchanged,
      nameOf: ({ path }) => path,
      render(result, index) {
        const spec: object = files[index] ?? flat;
        return renderWritten(result, spec);
      },
    }),
});

const withoutBytes = ({ bytes: _, ...rest }: CreatedFile): Omit<CreatedFile, "bytes"> => rest;

/** The result for one file, as on the wire. */
interface WrittenResult {
  readonly path: string;
  readonly bytes_written: number;
  readonly encoding?: string;
  readonly text_notes?: readonly string[];
  readonly unchanged?: boolean;
}

/** Renders a line about a file that was created, with its notes below. `spec` is what was sent for it. */
export function renderWritten(
  { path, bytes_written: bytes, encoding, text_notes: notes = [], unchanged: isUnchanged }: WrittenResult,
  spec: { readonly overwrite?: unknown; readonly encoding?: unknown } | undefined,
): string {
  // A file may have been there if `overwrite` was sent.
  const verb = spec?.overwrite === true ? "written" : "created";
  const done = isUnchanged ? "not written, since it has this content already" : verb;
  const form = renderEncoding(encoding, spec);
  const written = `${renderPath(path)}: ${done}, ${countBytes(bytes)}${form}${noteBlanks(path)}`;
  return [written, ...notes.map((note) => `[${note}]`)].join("\n");
}

/** The result for a created file. */
interface CreatedFile {
  readonly bytes: Buffer;
  /** The name of the encoding of a text that is not in UTF-8. */
  readonly encoding?: string;
  /** The differences from the form of the replaced file, and the file that a link led to. */
  readonly text_notes?: readonly string[];
  /** Whether the file had the content and the mode already. */
  readonly unchanged?: true;
}

/** Creates one file for an entry of a request. */
export async function createOne(
  spec: Static<typeof CreateFileSpec>,
  context: CoderContext,
): Promise<CreatedFile> {
  const { path, overwrite, parents, expected_revision: expected } = spec;
  const { profile, tree } = context;
  const mode = permissionBits(spec.mode, profile["create-file.mode"]);
  const skipsEqual = profile.skips_equal_writes;
  const options = { path, overwrite, parents, expectedRevision: expected, skipsEqual };
  const isText = overwrite && spec.encoding !== "base64" && profile["encodings.are_checked"];
  const create = isText
    ? () => replaceText(spec, { options, mode }, context)
    : () => createExactly(spec, { options, mode }, context);
  const work = () => explainMissingFolder(create, { path, parents }, context);
  const created = await expecting(work, { path, expected, mayBeAbsent: true }, context);
  return withNotes(created, profile.names_links ? notesOnLinks(tree.jail, path) : []);
}

interface CreatingFile {
  readonly options: CreationOptions;
  readonly mode: number | undefined;
}

async function createExactly(
  spec: Static<typeof CreateFileSpec>,
  { options, mode }: CreatingFile,
  context: CoderContext,
): Promise<CreatedFile> {
  const encoded = await inSlices(bytesOfContent(spec, undefined, context), context.deadline);
  const isWritten = await createFileAt(context.tree, { ...options, content: encoded.bytes, mode }, context);
  return { ...encoded, ...(!isWritten && { unchanged: true }) };
}

/** Like `createExactly`, but a file that is replaced keeps its byte order mark, and UTF-16. */
async function replaceText(
  spec: Static<typeof CreateFileSpec>,
  { options, mode }: CreatingFile,
  context: CoderContext,
): Promise<CreatedFile> {
  const { path } = options;
  using creation = await FileCreation.begin(context.tree, options, context);
  const before = creation.readReplaced((bytes) => textFormOf(bytes, path, context));
  const { encoded, notes } = await inSlices(encodeInPlace(spec, before, context), context.deadline);
  const isWritten = await creation.write(encoded.bytes, mode);
  return {
    ...encoded,
    ...(notes.length > 0 && { text_notes: notes }),
    ...(!isWritten && { unchanged: true }),
  };
}

/** Encodes a content in the form of the file that it replaces, if any, and notes the differences. */
function* encodeInPlace(
  spec: Static<typeof CreateFileSpec>,
  before: TextForm | undefined,
  context: CoderContext,
): Steps<{ encoded: EncodedContent; notes: readonly string[] }> {
  const { path } = spec;
  const isOwn = before !== undefined && spec.encoding === undefined;
  // The text was read from that file, and writing it back would destroy the bytes that could not be shown.
  if (isOwn && before.likely.length > 0 && spec.content.includes("\ufffd"))
    throw refuseFileEncoding.unknownEncoding(path, "\ufffd", before.likely);
  const kept = isOwn ? before.marked : undefined;
  const mark = isOwn ? keptMark(spec.content, before) : "";
  const marked = { ...spec, content: mark + spec.content };
  const encoded = yield* bytesOfContent(marked, kept, context);
  const notes = before === undefined ? [] : yield* notesOnReplaced(spec, before);
  return { encoded, notes };
}
