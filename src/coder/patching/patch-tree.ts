/** Makes the changes of a patch on a pending tree. */
import { type Echo, echoesOf } from "../../edits/echo.ts";
import { explainMissing } from "../../edits/misses.ts";
import { Refusal, refuse } from "../../errors.ts";
import { requireRevisionForm } from "../../files/expected-revision.ts";
import { revisionOfBytes } from "../../files/revision.ts";
import { applyHunks, type PatchedFile } from "../../patch/apply.ts";
import { refusePatch } from "../../patch/errors.ts";
import { mostExplainedBytes } from "../../patch/fit.ts";
import { HunkText } from "../../patch/hunk-text.ts";
import type { FilePatch, Patch } from "../../patch/patch.ts";
import type { PendingTree } from "../../transactions/pending-tree.ts";
import type { ChangeContext } from "../define.ts";
import { inSlices } from "../editing/apply-ops.ts";
import { pauseOf } from "../pause.ts";
import { permissionBits } from "../permission-bits.ts";
import { expecting, revisionMismatch } from "../revisions.ts";
import { pathBelow } from "./paths.ts";

/** The outcome of one file of a patch. */
export interface PatchedEntry {
  /** The current path. */
  readonly path: string;
  readonly kind: "added" | "modified" | "deleted" | "moved";
  /** Where it was, or what it is a copy of. */
  readonly from?: string;
  readonly lines?: number;
  readonly revision?: string;
  readonly echoes: readonly Echo[];
  readonly isTruncated: boolean;
}

/** A patch, and what the call says about it. */
export interface PatchRequest {
  readonly patch: Patch;
  readonly baseDir: string;
  /** By name in the patch. */
  readonly expectedRevisions: Readonly<Record<string, string>>;
}

/** Makes all changes in the order of the patch. Throws the first refusal, with the index of its file. */
export async function patchTree(
  tree: PendingTree,
  request: PatchRequest,
  context: ChangeContext,
): Promise<PatchedEntry[]> {
  // A new folder would be made of a slip in its name.
  if (tree.kindAt(request.baseDir) !== "dir") throw refuse.notAFolder(request.baseDir);
  const entries: PatchedEntry[] = [];
  const patcher = new TreePatcher(tree, request, context);
  const pause = pauseOf(context);
  for (const [index, file] of request.patch.files.entries()) {
    tree.change = index;
    context.deadline.check();
    await pause();
    try {
      entries.push(await patcher.apply(file));
    } catch (error) {
      throw error instanceof Refusal ? refuse.inChange(error, index) : error;
    }
  }
  return entries;
}

class TreePatcher {
  readonly #tree: PendingTree;
  readonly #request: PatchRequest;
  readonly #context: ChangeContext;
  /** Names whose file was changed already: what the call expects is what was there before. */
  readonly #changed = new Set<string>();

  constructor(tree: PendingTree, request: PatchRequest, context: ChangeContext) {
    this.#tree = tree;
    this.#request = request;
    this.#context = context;
  }

  async apply(file: FilePatch): Promise<PatchedEntry> {
    const { expectedRevisions } = this.#request;
    const isFirst = !this.#changed.has(file.path);
    this.#changed.add(file.path);
    const expected =
      isFirst && Object.hasOwn(expectedRevisions, file.path) ? expectedRevisions[file.path] : undefined;
    if (expected !== undefined) requireRevisionForm(expected, { mayBeAbsent: file.change === "add" });
    const change = { path: this.#pathOf(file.path), file, expected };
    if (file.change === "add") return await this.#add({ ...change, file });
    // A patch knows the contents of files only, and no undo could make a FIFO or a socket again.
    if (this.#tree.kindAt(change.path) !== "file") throw refuse.notAFile(change.path);
    return file.change === "delete" ? await this.#delete(change) : await this.#update({ ...change, file });
  }

  async #add({ path, file, expected }: FileChange<Addition>): Promise<PatchedEntry> {
    const patched = await this.#applyHunks(Buffer.alloc(0), { path, file });
    const mode = file.mode ?? permissionBits(undefined, this.#context.profile["create-file.mode"]);
    const options = { mode, overwrite: false, parents: true };
    const create = () =>
      this.#tree.create(path, patched.body, { ...options, expectedRevision: expected }, this.#context);
    await expecting(() => taken(path, create), { path, expected, mayBeAbsent: true }, this.#context);
    return { path, kind: "added", ...describe(patched), echoes: [], isTruncated: false };
  }

  async #delete({ path, file, expected }: FileChange): Promise<PatchedEntry> {
    if (file.hunks.length > 0) {
      const { max_write_bytes: bytes } = this.#context.config;
      const body = this.#tree.read(path, { key: "max_write_bytes", bytes }, (read) => Buffer.from(read));
      await this.#requireRevision(body, { path, file, expected });
      await this.#applyHunks(body, { path, file });
    }
    const options = { recursive: false, expectedRevision: expected };
    const remove = () => this.#tree.remove(path, options, this.#context);
    const isRemoved = await expecting(remove, { path, expected }, this.#context);
    if (!isRemoved) throw refuse.absent(path, "missing");
    return { path, kind: "deleted", echoes: [], isTruncated: false };
  }

  async #update(change: FileChange<Update>): Promise<PatchedEntry> {
    const { path, file, expected } = change;
    const { target } = file;
    const copied = target?.isCopy === true ? this.#pathOf(target.path) : undefined;
    if (copied !== undefined) await this.#place(path, copied, "copy");
    const place = copied ?? path;
    const isRead = file.hunks.length > 0 || file.mode !== undefined || expected !== undefined;
    const shown = isRead
      ? await this.#rewrite({ ...change, path: place })
      : { echoes: [], isTruncated: false };
    if (copied !== undefined) return { path: copied, from: path, kind: "added", ...shown };
    if (target === undefined) return { path, kind: "modified", ...shown };
    const moved = this.#pathOf(target.path);
    await this.#place(path, moved, "move");
    return { path: moved, from: path, kind: "moved", ...shown };
  }

  /** The file with its new content. */
  async #rewrite(change: FileChange<Update>) {
    const { path, file } = change;
    let patched: PatchedFile | undefined;
    await this.#tree.update(
      path,
      async (before) => {
        await this.#requireRevision(before, change);
        patched = await this.#applyHunks(before, change);
        return patched.body;
      },
      this.#context,
    );
    const { body, regions } = patched!;
    if (file.mode !== undefined) await this.#replace(path, body, file.mode);
    const sites = regions.map((region, at) => ({ index: at + 1, ...region }));
    return { ...describe(patched!), ...echoesOf(body, sites) };
  }

  /** Another mode comes with a file of its own: this one may have other names, which keep theirs. */
  async #replace(path: string, body: Buffer, mode: number): Promise<void> {
    await this.#tree.create(path, body, { mode, overwrite: true, parents: false }, this.#context);
  }

  /** Throws bad-input where something is at the new path. */
  async #place(from: string, to: string, verb: "copy" | "move"): Promise<void> {
    await taken(to, () => this.#tree[verb]({ from, to, overwrite: false, parents: true }, this.#context));
  }

  async #requireRevision(body: Buffer, { path, file, expected }: FileChange): Promise<void> {
    if (expected === undefined || revisionOfBytes([body]) === expected) return;
    const [hunk] = file.hunks;
    const { deadline } = this.#context;
    const text = hunk && (await inSlices(HunkText.read(this.#request.patch.lines, hunk, false), deadline));
    const sent = text?.oldText(mostExplainedBytes).toString();
    const near = sent ? await inSlices(explainMissing(body, sent), deadline) : undefined;
    const ranges = (near?.candidates ?? [])
      .slice(0, 1)
      .map(({ from_line, to_line }) => [from_line, to_line] as const);
    throw revisionMismatch({ path, expected, ranges }, body);
  }

  #pathOf(name: string): string {
    return pathBelow(this.#request.baseDir, name);
  }

  #applyHunks(body: Buffer, { path, file }: Pick<FileChange, "path" | "file">): Promise<PatchedFile> {
    return inSlices(applyHunks(body, { ...file, path }, this.#request.patch), this.#context.deadline);
  }
}

/** A file of the patch, the path that it has on the wire, and what the call expects to be there. */
interface FileChange<File extends FilePatch = FilePatch> {
  readonly path: string;
  readonly file: File;
  readonly expected: string | undefined;
}

type Addition = Extract<FilePatch, { change: "add" }>;
type Update = Extract<FilePatch, { change: "update" }>;

const describe = ({ body, lines }: PatchedFile) => ({ lines, revision: revisionOfBytes([body]) });

/** A patch says what it replaces; what is in the way of a new name is none of that. */
async function taken<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal && error.reason === "exists")) throw error;
    throw refusePatch.pathIsTaken(path);
  }
}
