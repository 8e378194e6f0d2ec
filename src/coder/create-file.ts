import { Type } from "@sinclair/typebox";
import { refuse } from "../errors.ts";
import { Named, Nullable, UInt64 } from "../schema/fragments.ts";
import { defineCoderFunction } from "./define.ts";

const CreateFileSpec = Named("CreateFileSpec", {
  content: Type.String(),
  mode: Type.String({
    default: "0644",
    description: 'Octal permission bits as a string, e.g. "0644". Defaults to "0644".',
  }),
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
});

const request = Type.Object({ files: Type.Array(CreateFileSpec) }, { title: "CreateFileInput" });

const CreateFileResult = Named("CreateFileResult", {
  bytes_written: UInt64(),
  error: Type.Optional(Nullable(Type.String())),
  path: Type.String(),
  success: Type.Boolean(),
});

const response = Type.Object({ results: Type.Array(CreateFileResult) }, { title: "CreateFileOutput" });

/** `coder::create-file`: new files, each on its own (coder §8). */
export const createFile = defineCoderFunction({
  id: "coder::create-file",
  publishedIn: "coder 0.2.0",
  description:
    "Create one or more files. Per-file `overwrite` and `parents` flags; non-accessible paths return C211.",
  summary: "new files, with their folders",
  effect: "writes",
  paths: [
    { at: "/files/*/path", access: "create", when: { overwrite: false, parents: false } },
    { at: "/files/*/path", access: "replace", when: { overwrite: true, parents: true } },
  ],
  isIdempotent: true,
  request,
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
  async handle(request, context) {
    if (request.files.length === 0) throw refuse.emptyBatch("files");
    const results = [];
    for (const { path, content, mode, overwrite, parents } of request.files) {
      const bytes = Buffer.from(content);
      const outcome = await context.attempt(() =>
        context.files.create(path, bytes, { mode: parseMode(mode), overwrite, parents }, context),
      );
      results.push(
        "error" in outcome
          ? { path, success: false, bytes_written: 0, error: outcome.error }
          : { path, success: true, bytes_written: bytes.length },
      );
    }
    return { results };
  },
  render: ({ results }) =>
    results
      .map(({ path, bytes_written, error }) => `${path}: ${error ?? `created, ${bytes_written} bytes`}`)
      .join("\n"),
});

/** Octal digits, permission bits only: set-id and sticky bits are not for callers to set. */
function parseMode(mode: string): number {
  const bits = /^[0-7]+$/.test(mode) ? Number.parseInt(mode, 8) : Number.NaN;
  if (bits <= 0o777) return bits;
  throw refuse.badInput(
    `The mode ${JSON.stringify(mode.slice(0, 60))} is not octal permission bits; send digits from "0000" to "0777", such as "0644".`,
  );
}
