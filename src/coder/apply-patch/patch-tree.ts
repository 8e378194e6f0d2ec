/** Makes the changes of a patch on a planned tree. */

import { Refusal, refuse } from "../../base/errors.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { readWholeFile } from "../../filesystem/files/read.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import type { EntryKind } from "../../filesystem/jail/kind.ts";
import { copyPath } from "../../filesystem/operations/copy.ts";
import { createFileAt } from "../../filesystem/operations/create.ts";
import { absent, requireRevisionForm } from "../../filesystem/operations/expected-revision.ts";
import { movePath } from "../../filesystem/operations/move.ts";
import { removePath } from "../../filesystem/operations/remove.ts";
import { FileEdit } from "../../filesystem/operations/update.ts";
import type { PlannedTree } from "../../filesystem/overlay/planned-tree.ts";
import { type Echo, type Echoes, echoesOf } from "../../text/edits/echo.ts";
import { explainMissing } from "../../text/edits/explain-miss.ts";
import type { WindowRange } from "../../text/edits/window.ts";
import type { Encoding } from "../../text/encodings/codec.ts";
import { addedText } from "../../text/patch/added-text.ts";
import { applyHunks, type HunkPlacement, type PatchedFile } from "../../text/patch/apply.ts";
import { maxExplainedBytes } from "../../text/patch/fit.ts";
import { HunkText } from "../../text/patch/hunk-text.ts";
import { emptiedFoldersAt, findDependencies } from "../../text/patch/order.ts";
import type { FilePatch, Hunk, Patch } from "../../text/patch/patch.ts";
import { refusePatch } from "../../text/patch/patch-errors.ts";
import { resolveNames } from "../../text/patch/resolve-names.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";
import { shownText } from "../fields/file-encoding.ts";
import { isLinkAt, isLinkToSomething, linkedPath, notesOnLinks } from "../fields/links.ts";
import { permissionBits } from "../fields/permission-bits.ts";
import { expecting, revisionMismatch } from "../fields/revisions.ts";
import { notesOnUnused } from "../read-file/text-notes.ts";
import { pauseOf } from "../services/pause.ts";
import { Failures } from "../transact/failures.ts";
import { inSlices } from "../update-file/apply-ops.ts";
import { withoutBinaryLines } from "../update-file/binary-lines.ts";
import { type EditedForm, formOf, withNotes } from "../update-file/edit-file.ts";
import { openForPatch } from "../update-file/file-text.ts";
import { notesOnLosses } from "../update-file/loss-notes.ts";
import { findStaleLines } from "../update-file/stale-lines.ts";
import { pathBelow } from "./paths.ts";

/** The outcome of one file of a patch. */
export interface PatchedEntry {
  /** The path of the file after the patch. */
  readonly path: string;
  readonly kind: "added" | "modified" | "deleted" | "moved";
  /** The earlier path of the file, or that of the file it is a copy of. */
  readonly from?: string;
  /** Whether the patch replaces a file that was at the path. */
  readonly isReplacing?: boolean;
  /** Whether it is a link that has lost its target. */
  readonly isDangling?: boolean;
  /** The permission bits that the patch sets. */
  readonly mode?: number | undefined;
  readonly lines?: number;
  readonly revision?: string;
  readonly echoes: readonly Echo[];
  readonly isTruncated: boolean;
  /** The hunks that were not applied as written. */
  readonly placements?: readonly HunkPlacement[];
  /** The differences of its text from UTF-8 with LF and a line end at its end. */
  readonly form?: EditedForm;
}

/** A patch, and the options of the call. */
export interface PatchRequest {
  readonly patch: Patch;
  readonly baseDir: string;
  /** The encoding of its files, unless they have a byte order mark. */
  readonly encoding?: Encoding | undefined;
  /** The expected revisions, by the names in the patch. */
  readonly expectedRevisions: Readonly<Record<string, string>>;
  /** The number of leading parts of names that are prefixes. Default: it is detected. */
  readonly strip?: number | undefined;
  /** Whether new, moved and copied files replace what is at their paths. */
  readonly overwrite?: boolean;
  /** Whether the call only plans the changes. */
  readonly isPlan: boolean;
}

/**
 * Makes all changes in the order of the patch. Throws the first refusal, with the index of its file, and in
 * the profile `agent` with those of the other files that fail.
 */
export async function patchTree(
  tree: PlannedTree,
  request: PatchRequest,
  context: CoderContext,
): Promise<PatchedEntry[]> {
  // Otherwise, a typo in the name would create a folder.
  if (tree.kindAt(request.baseDir) !== "dir") throw refuse.notAFolder(request.baseDir);
  const exists = (name: string) => isFileAt(tree, pathBelow(request.baseDir, name));
  const isTaken = (name: string) => entryAt(tree, pathBelow(request.baseDir, name)) !== undefined;
  const naming = resolveNames(request.patch, { strip: request.strip, exists, isTaken });
  const patch = await inSlices(naming, context.deadline);
  const expectedRevisions = revisionsByPath(request, patch);
  const entries: PatchedEntry[] = [];
  const patcher = new TreePatcher(tree, { ...request, patch, expectedRevisions }, context);
  const pause = pauseOf(context);
  const failures = new Failures(context);
  const inFile = <T>(file: FilePatch, work: () => Promise<T>): Promise<T | undefined> => {
    const index = patch.files.indexOf(file);
    tree.change = index;
    const target = file.change === "update" && file.target !== undefined ? [file.target.path] : [];
    return failures.attempt({
      index,
      paths: [file.path, ...target],
      async make() {
        context.deadline.check();
        await pause();
        return await work();
      },
    });
  };
  const { held, removedFirst } = await inSlices(findDependencies(patch), context.deadline);
  for (const file of held) await inFile(file, () => patcher.hold(file));
  for (const file of removedFirst) {
    const entry = await inFile(file, () => patcher.removeFirst(file));
    if (entry !== undefined) entries[patch.files.indexOf(file)] = entry;
  }
  for (const [index, file] of patch.files.entries()) {
    const entry = entries[index] ?? (await inFile(file, () => patcher.apply(file)));
    if (entry !== undefined) entries[index] = entry;
  }
  failures.end();
  return entries;
}

const isFileAt = (tree: PlannedTree, path: string): boolean => entryAt(tree, path) === "file";

/** Returns the kind of the entry at a path, if any. Denied paths count as missing. */
function entryAt(tree: PlannedTree, path: string): EntryKind | undefined {
  try {
    return tree.kindAt(path);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/**
 * Returns the expected revisions by the paths that the names in the patch mean. Throws bad-input for one of a
 * file that the patch does not name.
 */
function revisionsByPath({ patch: sent, expectedRevisions }: PatchRequest, patch: Patch): PathRevisions {
  const paths = new Map<string, string>();
  for (const [index, { path, paddedPath }] of patch.files.entries())
    paths.set(paddedPath ?? sent.files[index]!.path, path);
  for (const { path } of patch.files) paths.set(path, path);
  const stray = Object.keys(expectedRevisions).find((name) => !paths.has(name));
  if (stray !== undefined) throw refuseCoder.strayPatchRevision(stray);
  return new Map(Object.entries(expectedRevisions).map(([name, revision]) => [paths.get(name)!, revision]));
}

type PathRevisions = ReadonlyMap<string, string>;

/** A request whose patch has the paths that its names mean. */
type ResolvedRequest = Omit<PatchRequest, "expectedRevisions"> & {
  readonly expectedRevisions: PathRevisions;
};

/** The content and mode of a file before all changes. */
interface HeldFile {
  readonly body: Buffer;
  readonly mode: number;
}

class TreePatcher {
  readonly #tree: PlannedTree;
  readonly #request: ResolvedRequest;
  readonly #context: CoderContext;
  /** The names whose file was already changed, so that its expected revision no longer applies. */
  readonly #changed = new Set<string>();
  readonly #held = new Map<FilePatch, HeldFile>();
  /** The paths of files that were removed before others were written. */
  readonly #removed = new Set<string>();

  constructor(tree: PlannedTree, request: ResolvedRequest, context: CoderContext) {
    this.#tree = tree;
    this.#request = request;
    this.#context = context;
  }

  /** Reads a file that will be written elsewhere, before other changes affect its name or its content. */
  async hold(file: FilePatch): Promise<void> {
    const change = this.#changeOf(file);
    const held = this.#read(change.path);
    this.#requireNoLink(change.path);
    await this.#requireRevision(held.body, change);
    this.#held.set(file, held);
  }

  /** Removes a file whose path another file gets. Returns its entry if the patch only deletes it. */
  async removeFirst(file: FilePatch): Promise<PatchedEntry | undefined> {
    const change = this.#changeOf(file);
    this.#removed.add(change.path);
    if (file.change === "delete") return await this.apply(file);
    this.#requireFile(change.path);
    await removePath(this.#tree, { path: change.path, recursive: false }, this.#context);
    return undefined;
  }

  async apply(file: FilePatch): Promise<PatchedEntry> {
    const change = this.#changeOf(file);
    this.#changed.add(file.path);
    const held = this.#held.get(file);
    if (held !== undefined) return await this.#writeHeld({ ...change, file: file as Update }, held);
    if (file.change === "add") return await this.#add({ ...change, file });
    if (file.change === "update" && file.mayBeMissing && !isFileAt(this.#tree, change.path))
      return await this.#add({ ...change, file });
    this.#requireFile(change.path);
    return file.change === "delete"
      ? await this.#delete(change)
      : await this.#changeFile({ ...change, file });
  }

  #changeOf<File extends FilePatch>(file: File): FileChange<File> {
    const path = this.#pathOf(file.path);
    const expected = this.#request.expectedRevisions.get(file.path);
    if (this.#changed.has(file.path) || expected === undefined) return { path, file, expected: undefined };
    requireRevisionForm(expected, { mayBeAbsent: file.change === "add" });
    return { path, file, expected };
  }

  /** Patches are for contents of files, and no undo could restore a FIFO or a socket. */
  #requireFile(path: string): void {
    if (this.#tree.kindAt(path) !== "file") throw refuse.notAFile(path);
  }

  /** Refuses to move or copy a link together with a change, which would be one of the file it leads to. */
  #requireNoLink(path: string): void {
    const { jail } = this.#tree;
    if (isLinkAt(jail, path)) throw refusePatch.movedLink(path, linkedPath(jail, path));
  }

  #read(path: string): HeldFile {
    this.#requireFile(path);
    const { max_write_bytes: bytes } = this.#context.config;
    return readWholeFile(this.#tree.jail, path, {
      limit: { key: "max_write_bytes", bytes },
      use: (read, { mode }) => ({ body: Buffer.from(read), mode }),
    });
  }

  /** Writes a held file to its new path. */
  async #writeHeld({ path, file }: FileChange<Update>, { body, mode }: HeldFile): Promise<PatchedEntry> {
    const target = this.#pathOf(file.target!.path);
    const patched = await this.#applyHunks(body, { path, file });
    const isReplacing = isFileAt(this.#tree, target);
    await this.#create(target, patched.bytes, { mode: file.mode ?? mode });
    const kind = file.target!.isCopy ? "added" : "moved";
    const change = { path: target, from: path, kind, isReplacing, mode: file.mode } as const;
    return { ...change, ...(await this.#show(patched)) };
  }

  /** Creates a file. Folders that held only files of the patch make room for it. */
  async #create(path: string, body: Buffer, { mode, expected }: Creation): Promise<void> {
    if (this.#removed.size > 0) await this.#removeEmptiedFolders(path);
    const overwrite = this.#request.overwrite === true;
    const creation = { path, content: body, mode, overwrite, parents: true, expectedRevision: expected };
    await taken(path, () => createFileAt(this.#tree, creation, this.#context), expected);
  }

  /** Removes the folders at and below a path that held removed files, the innermost first. */
  async #removeEmptiedFolders(path: string): Promise<void> {
    const pause = pauseOf(this.#context);
    const folders = await inSlices(emptiedFoldersAt(path, this.#removed), this.#context.deadline);
    for (const folder of folders) {
      await removePath(this.#tree, { path: folder, recursive: false }, this.#context);
      await pause();
    }
  }

  async #add({ path, file, expected }: FileChange<Addition | Update>): Promise<PatchedEntry> {
    const patched = await this.#applyHunks(Buffer.alloc(0), { path, file });
    const mode = file.mode ?? permissionBits(undefined, this.#context.profile["create-file.mode"]);
    const isReplacing = isFileAt(this.#tree, path);
    const create = () => this.#create(path, patched.bytes, { mode, expected });
    await expecting(create, { path, expected, mayBeAbsent: true }, this.#context);
    const { line_ends_changed, ...form } = withNotes(patched.form, notesOnLinks(this.#tree.jail, path));
    return {
      path,
      kind: "added",
      isReplacing,
      ...describe(patched),
      form,
      echoes: [],
      isTruncated: false,
    };
  }

  async #delete({ path, file, expected }: FileChange): Promise<PatchedEntry> {
    if (file.hunks.length > 0 || (file.change === "delete" && file.wasEmpty)) {
      const { body } = this.#read(path);
      await this.#requireRevision(body, { path, file, expected });
      await this.#applyHunks(body, { path, file });
    }
    const removal = { path, recursive: false, expectedRevision: expected };
    const remove = () => removePath(this.#tree, removal, this.#context);
    const isRemoved = await expecting(remove, { path, expected }, this.#context);
    if (!isRemoved) throw refuse.absent(path, "missing");
    return { path, kind: "deleted", echoes: [], isTruncated: false };
  }

  async #changeFile(change: FileChange<Update>): Promise<PatchedEntry> {
    const { path, file, expected } = change;
    const { target } = file;
    const copied = target?.isCopy === true ? this.#pathOf(target.path) : undefined;
    const isReplacing = target !== undefined && isFileAt(this.#tree, this.#pathOf(target.path));
    const isRewritten = file.hunks.length > 0 || file.mode !== undefined;
    if (target !== undefined && isRewritten) this.#requireNoLink(path);
    const mayLoseTarget = target !== undefined && isLinkToSomething(this.#tree.jail, path);
    if (copied !== undefined) await this.#place(path, copied, "copy");
    const place = copied ?? path;
    const isRead = isRewritten || expected !== undefined;
    const shown = isRead
      ? await this.#rewrite({ ...change, path: place })
      : { echoes: [], isTruncated: false };
    const changed = { ...shown, mode: file.mode, isReplacing };
    const lost = (to: string) => ({ isDangling: mayLoseTarget && !isLinkToSomething(this.#tree.jail, to) });
    if (copied !== undefined) return { path: copied, from: path, kind: "added", ...changed, ...lost(copied) };
    if (target === undefined) return { path, kind: "modified", ...changed };
    const moved = this.#pathOf(target.path);
    await this.#place(path, moved, "move");
    return { path: moved, from: path, kind: "moved", ...changed, ...lost(moved) };
  }

  /** Writes a file with its new content, and returns a description of it. */
  async #rewrite(change: FileChange<Update>) {
    const { path, file } = change;
    const patched = await this.#edit(change);
    if (file.mode !== undefined) await this.#replace(path, patched.bytes, file.mode);
    return await this.#show(patched);
  }

  #show(patched: PatchedBytes): Promise<Shown> {
    return inSlices(show(patched), this.#context.deadline);
  }

  async #edit(change: FileChange<Update>): Promise<PatchedBytes> {
    await using edit = await FileEdit.begin(this.#tree, change.path, this.#context);
    for (;;) {
      const { before } = edit;
      await this.#requireRevision(before, change);
      const stale = await this.#findStaleLines(edit, change);
      const patched = await this.#applyHunks(before, change);
      stale?.accept();
      const notes = [
        ...(stale?.note === undefined ? [] : [stale.note]),
        ...notesOnLosses(edit.lossesBy([patched.bytes])),
        ...notesOnLinks(this.#tree.jail, change.path),
      ];
      const form = withNotes(patched.form, notes);
      if (await edit.write([patched.bytes])) return { ...patched, form };
    }
  }

  /** Finds stale numbers of hunks that have nothing else to place them. */
  async #findStaleLines({ before, placeOnDisk: place }: FileEdit, { file, expected }: FileChange<Update>) {
    const { patch, isPlan } = this.#request;
    const lines = file.hunks.flatMap(numberedLine);
    const mayBeMoved = patch.files.some((one) => one.change === "update" && one.target !== undefined);
    if (lines.length === 0 || mayBeMoved) return undefined;
    const edited = { place, before, lines, isDry: isPlan, isChecked: expected !== undefined };
    return await findStaleLines(edited, this.#context);
  }

  /** Creates another file with the new mode. The old one may have further names, which keep its mode. */
  async #replace(path: string, body: Buffer, mode: number): Promise<void> {
    const creation = { path, content: body, mode, overwrite: true, parents: false };
    await createFileAt(this.#tree, creation, this.#context);
  }

  /** Throws bad-input if the new path is taken. */
  async #place(from: string, to: string, verb: "copy" | "move"): Promise<void> {
    const transfer = verb === "move" ? movePath : copyPath;
    const paths = { from, to, overwrite: this.#request.overwrite === true, parents: true };
    await taken(to, () => transfer(this.#tree, paths, this.#context));
  }

  async #requireRevision(bytes: Buffer, { path, file, expected }: FileChange): Promise<void> {
    if (expected === undefined || revisionOfBytes([bytes]) === expected) return;
    const [first] = file.hunks;
    const { patch, encoding } = this.#request;
    const { deadline } = this.#context;
    const hunk = first && (await inSlices(HunkText.read(patch.lines, first, false), deadline));
    const sent = hunk?.oldText(maxExplainedBytes).toString();
    const text = await inSlices(shownText(bytes, { path, encoding }, this.#context), deadline);
    const near = sent ? await inSlices(explainMissing(text, sent), deadline) : undefined;
    const ranges = (near?.candidates ?? [])
      .slice(0, 1)
      .map(({ from_line, to_line }) => [from_line, to_line] as const);
    throw revisionMismatch({ path, expected, ranges }, { bytes, text });
  }

  /** Applies hunks. In the profile `agent`, a refusal shows no lines of a file that is not text. */
  async #withTextOnly<T>(text: Buffer, apply: () => Promise<T>): Promise<T> {
    try {
      return await apply();
    } catch (error) {
      if (!this.#context.profile.explained_errors || !(error instanceof Refusal)) throw error;
      throw withoutBinaryLines(error, text);
    }
  }

  #pathOf(name: string): string {
    return pathBelow(this.#request.baseDir, name);
  }

  /** Applies the hunks to the text of a file. Returns the bytes in the encoding and form of the file. */
  async #applyHunks(
    before: Buffer,
    { path, file }: Pick<FileChange, "path" | "file">,
  ): Promise<PatchedBytes> {
    const { patch, encoding } = this.#request;
    const written = () => addedText(patch.lines, file);
    const { deadline } = this.#context;
    const opened = await inSlices(openForPatch(before, { path, encoding, written }, this.#context), deadline);
    const patched = await this.#withTextOnly(opened.text, () =>
      inSlices(applyHunks(opened.text, { ...file, path }, patch), deadline),
    );
    const pieces = await inSlices(opened.bytesOf([patched.body]), deadline);
    const notes = notesOnUnused(encoding, opened.encoding, opened.text);
    const form = withNotes(await inSlices(formOf(opened.text, patched.body, opened), deadline), notes);
    return { ...patched, bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), form };
  }
}

/** A file after its hunks, as text and as bytes. */
interface PatchedBytes extends PatchedFile {
  readonly bytes: Buffer;
  readonly form: EditedForm;
}

/** A file of the patch, its path on the wire, and the revision that the call expects. */
interface FileChange<File extends FilePatch = FilePatch> {
  readonly path: string;
  readonly file: File;
  readonly expected: string | undefined;
}

type Addition = Extract<FilePatch, { change: "add" }>;
type Update = Extract<FilePatch, { change: "update" }>;

interface Creation {
  readonly mode: number | undefined;
  readonly expected?: string | undefined;
}

/** Returns the line that a hunk of added lines alone comes before, if its header has the number. */
function numberedLine({ header, isCounted }: Hunk): WindowRange[] {
  if (!isCounted || header?.old.count !== 0) return [];
  const line = header.old.linesBefore + 1;
  return [{ from: line, to: line }];
}

const describe = ({ bytes, lines, placements }: PatchedBytes) => ({
  lines,
  revision: revisionOfBytes([bytes]),
  ...(placements.length > 0 && { placements }),
});

/** Describes a file, with the lines around each hunk. */
function* show(patched: PatchedBytes): Steps<Shown> {
  const described = describe(patched);
  yield;
  const sites = patched.regions.map((region, at) => ({ index: at + 1, ...region }));
  return { ...described, ...(yield* echoesOf(patched.body, sites)), form: patched.form };
}

type Shown = ReturnType<typeof describe> & Echoes & { readonly form: EditedForm };

/** Refuses an entry in the way of a new name: a patch names every file that it replaces. */
async function taken<T>(path: string, work: () => Promise<T>, expected?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal && error.reason === "exists")) throw error;
    throw refusePatch.pathIsTaken(path, expected === absent);
  }
}
