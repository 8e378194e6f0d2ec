import { isUtf8 } from "node:buffer";
import { type Static, Type } from "@sinclair/typebox";
import { Refusal } from "../../base/errors.ts";
import { createTimeSlice, inOneStep, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { createWalkSlice, type Pace, yieldIfDue } from "../../base/scheduling/walk-slice.ts";
import { Named, Nullable, UInt64 } from "../../base/schema/fragments.ts";
import { withCode } from "../../calls/contract/call-status.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { FileEdit } from "../../filesystem/operations/update.ts";
import { takeBatch } from "../../search/batches/batches.ts";
import { FileCursor } from "../../search/batches/file-cursor.ts";
import { SharedFolder } from "../../search/walk/shared-folder.ts";
import { Walk } from "../../search/walk/walk.ts";
import type { Encoding } from "../../text/encodings/codec.ts";
import { openFileText } from "../../text/encodings/open-file-text.ts";
import type { OpenedText } from "../../text/encodings/open-text.ts";
import { requestedEncoding } from "../../text/encodings/requested-encoding.ts";
import type { LineReplacement } from "../../text/regex/rust-regex.ts";
import type { ShellContext } from "../define.ts";
import { defineFsFunction, foundPaths, requirePath, shortDeadline } from "./define.ts";
import { inShellWords, onlyThere, refuseFs } from "./fs-errors.ts";
import { filtersFor } from "./globs.ts";
import { type Start, startOf } from "./grep.ts";
import { HostEncoding, withoutEncoding } from "./host-encoding.ts";
import { literalPattern, requireReplacement } from "./pattern.ts";
import { largestWhole } from "./services.ts";

const Texts = () => Type.Array(Type.String(), { default: [] });

const fields = {
  files: Texts(),
  path: Nullable(Type.String(), { default: null }),
  recursive: Type.Boolean({ default: true }),
  include_glob: Texts(),
  exclude_glob: Texts(),
  pattern: Type.String(),
  replacement: Type.String(),
  regex: Type.Boolean({ default: true }),
  first_only: Type.Boolean({ default: false, description: "Replace only the first match of each line." }),
  ignore_case: Type.Boolean({ default: false }),
  encoding: HostEncoding(),
};

const Request = Type.Object(fields);
type Request = Static<typeof Request>;

const FsSedFileResult = Named("FsSedFileResult", {
  error: Type.Optional(Nullable(Type.String())),
  path: Type.String(),
  replacements: UInt64(),
  success: Type.Boolean(),
});

/** `shell::fs::sed`: replaces in the lines of files (shell §9.8). */
export const sed = defineFsFunction({
  op: "sed",
  description: "Find-and-replace on host or sandbox",
  effect: "writes",
  paths: [
    { at: "/files/*", access: "write" },
    { at: "/path", access: "write-tree" },
  ],
  fields,
  response: Type.Object(
    { results: Type.Array(FsSedFileResult), total_replacements: UInt64() },
    { title: "SedResponse" },
  ),
  examples: [
    {
      title: "Rename a word in all sources",
      request: {
        path: "/srv/data/src",
        include_glob: ["*.ts"],
        pattern: "\\bgetUser\\b",
        replacement: "loadUser",
      },
    },
    {
      title: "The same in one file",
      request: { files: ["/srv/data/src/user.ts"], pattern: "\\bgetUser\\b", replacement: "loadUser" },
    },
  ],
  forwarded: withoutEncoding,
  async handle(request, context) {
    const { jail } = context.fs;
    const encoding = requestedEncoding(request.encoding);
    if (request.files.length > 0 === (request.path !== null)) throw refuseFs.whichFiles();
    using deadline = shortDeadline(context);
    using slice = createWalkSlice({ deadline, caller: context.caller });
    const pace = { slice, deadline };
    const start = request.path === null ? undefined : requireStart(jail, request.path, request);
    await requireAll(jail, request.files, pace);
    const { config, profile } = context;
    const replacement = {
      ...replacementOf(request, config.fs.refuse_undefined_groups ?? profile["fs.refuse_undefined_groups"]),
      refusesForeign: request.regex && profile["fs.keeps_line_ends"],
    };
    await requireReplacement(context.regex, replacement, deadline);
    const files = start === undefined ? request.files : await collect(start, request, context, pace);
    const call = { ...context, deadline };
    const edit = { replacement, literal: literalOf(request), encoding };
    const results = [];
    for (const path of files) {
      results.push(await resultOf(path, edit, call));
      if (slice.isDue) await slice.yieldIfDue();
    }
    if (profile.explained_errors) adviseOneByOne(results);
    return { results, total_replacements: results.reduce((sum, { replacements }) => sum + replacements, 0) };
  },
});

type FileResult = Static<typeof FsSedFileResult>;

/** Adds to each error the call for that file alone, if the call has changed other files. */
function adviseOneByOne(results: readonly FileResult[]): void {
  if (results.every(({ replacements }) => replacements === 0)) return;
  for (const result of results)
    if (typeof result.error === "string") result.error = onlyThere(result.error, result.path);
}

/** Throws unless the call may reach all paths, before any is changed. */
async function requireAll(jail: Jail, paths: readonly string[], pace: Pace): Promise<void> {
  for (const path of paths) {
    requirePath(jail, path);
    await yieldIfDue(pace);
  }
}

/** The size of a batch from the walk, which holds its folders open. */
const batchSize = { files: 256, folders: 64 };

/** The place where a walk starts. */
interface WalkStart extends Start {
  readonly path: string;
}

function requireStart(jail: Jail, path: string, { recursive }: Request): WalkStart {
  const start = startOf(jail, path);
  if (start.isFolder && !recursive) throw refuseFs.notRecursive(path);
  return { ...start, path };
}

/** Returns the paths of the regular files at or below `path`, in the order of their bytes. */
async function collect(
  { path, isFolder, prefix }: WalkStart,
  { include_glob, exclude_glob }: Request,
  { fs: { jail, files } }: ShellContext,
  pace: Pace,
): Promise<string[]> {
  const filters = filtersFor({ include: include_glob, exclude: exclude_glob }, prefix);
  if (!isFolder) {
    const name = path.split("/").findLast((part) => part !== "" && part !== ".") ?? "";
    const isWanted =
      (filters.include?.matches(prefix + name) ?? true) && !filters.exclude?.matches(prefix + name);
    return isWanted ? [path] : [];
  }
  const found: string[] = [];
  const nameOf = foundPaths(jail, path);
  const start = new SharedFolder(jail.admitFolder(path));
  const walk = new Walk(start, { jail, files, ...filters, onTooDeep: () => {} });
  start.release();
  try {
    for (let batch = takeBatch(walk, batchSize); batch !== undefined; batch = takeBatch(walk, batchSize)) {
      for (const file = new FileCursor(batch.files); file.next(); ) found.push(nameOf(file.path));
      batch.release();
      await yieldIfDue(pace);
    }
  } finally {
    walk.close();
  }
  return found;
}

/**
 * Returns a literal that every match contains, if a simple one exists, to skip most files without a match.
 */
function literalOf({ pattern, regex, ignore_case }: Request): Buffer | undefined {
  const isLiteral = !ignore_case && (!regex || /^[\w ,:;<=>@!"%'/]*$/.test(pattern));
  return isLiteral ? Buffer.from(pattern) : undefined;
}

function replacementOf(
  { pattern, replacement, regex, first_only, ignore_case }: Request,
  strict: boolean,
): LineReplacement {
  const lines = first_only ? "first" : "every";
  if (regex) return { pattern, replacement, ignoreCase: ignore_case, lines, strict };
  if (pattern === "") throw refuseFs.emptyLiteral();
  const literal = { pattern: literalPattern(pattern), replacement: replacement.replaceAll("$", "$$$$") };
  return { ...literal, ignoreCase: ignore_case, lines };
}

interface Edit {
  readonly replacement: LineReplacement;
  /** A literal that every match contains. A file without it needs no thread. */
  readonly literal: Buffer | undefined;
  /** The encoding of files without a byte order mark. */
  readonly encoding: Encoding | undefined;
}

/** Edits one file. Returns the number of replacements. */
async function editFile(
  path: string,
  { replacement, literal, encoding }: Edit,
  call: ShellContext,
): Promise<number> {
  const { fs, regex, config, deadline, profile } = call;
  const keepsLineEnds = profile["fs.keeps_line_ends"];
  deadline.check();
  const limits = { path, maxBytes: config.fs.max_write_bytes || largestWhole, deadline };
  const inSlices = <T>(steps: Steps<T>) => runInSlices(steps, createTimeSlice(), () => deadline.check());
  await using edit = await FileEdit.begin(fs.tree, path, call);
  for (;;) {
    const isDecoded = keepsLineEnds || encoding !== undefined;
    const opened = isDecoded ? openFileText(edit.before, { path, encoding }) : asItIs(edit.before);
    const { text, bytesOf } = await inSlices(opened);
    if (!isUtf8(text)) throw refuseFs.notUtf8(path);
    if (text.length === 0 || (literal !== undefined && !text.includes(literal))) return 0;
    const { body, count } = await regex.replaceInLines(text, { ...replacement, keepsLineEnds }, limits);
    if (count === 0 || (await edit.write(await inSlices(bytesOf([body]))))) return count;
  }
}

const asItIs = (text: Buffer): Steps<Pick<OpenedText, "text" | "bytesOf">> =>
  inOneStep(() => ({ text, bytesOf: (edited) => inOneStep(() => edited) }));

async function resultOf(path: string, edit: Edit, call: ShellContext): Promise<FileResult> {
  try {
    return { path, replacements: await editFile(path, edit, call), success: true };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const refusal = inShellWords(error, call.profile);
    const result = { path, replacements: 0, success: false, error: refusal.message };
    return withCode(result, call.renderError(refusal)?.code);
  }
}
