/**
 * Makes frames of mutations, with the entries at the affected names before a step, including contents, and
 * after it.
 */
import { readSync } from "node:fs";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { largestHashed } from "../disk/hash-ahead.ts";
import type { HeldEntry, Mutation } from "../disk/mutation.ts";
import {
  isLarge,
  largestAtOnce,
  quickRevisionOf,
  revisionInSteps,
  revisionOfBytes,
  stampsOf,
} from "../files/revision.ts";
import { isLonger, maxPathBytes } from "../jail/parse.ts";
import type { ContentLocation, Loss, RecordedState, RecordedTree, StepFrame } from "./frame.ts";

/** Maximum bytes of a small content. Larger ones have files of their own, which may share disk blocks. */
export const largestSmall = 1024 * 1024;

/** Maximum entries of a folder that is kept in one frame. */
export const maxEntries = 20_000;

/** Thrown with the reason why a step cannot be undone. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
  readonly loss: Loss;

  constructor(loss: Loss) {
    super(loss);
    this.loss = loss;
  }
}

/** Keeps the contents of one frame. */
export interface ContentKeeper {
  /** The remaining room in bytes. */
  readonly room: number;
  /** Keeps a small content in the frame itself, or with others in a file beside it. */
  keepSmall(bytes: Buffer): ContentLocation;
  /**
   * Like `keepBlob`, but at once, with a copy that was made before. Returns `undefined` if none was made of
   * the file as it is now.
   */
  keepCopied(descriptor: number, length: number): ContentLocation | undefined;
  /** Keeps the content of an opened file in a file of its own. */
  keepBlob(descriptor: number, length: number): Steps<ContentLocation>;
  /** Returns the last content of `keepCopied` or `keepBlob` with its own revision, not that of the file. */
  readKept(): Steps<KeptBlob>;
}

/** A content, and its revision. */
export interface KeptBlob {
  readonly content: ContentLocation;
  readonly revision: string;
}

/** Trees of a step that were read before its frame is made. Both throw what reading threw. */
export interface ReadTrees {
  readonly before?: (() => RecordedTree) | undefined;
  readonly after?: (() => RecordedTree) | undefined;
}

/** Returns the frame of a step. Throws `Unavailable` if it could not be undone, and all errors of reading. */
export function frameOf(
  mutation: Mutation,
  at: number,
  { keeper, read = {} }: { readonly keeper: ContentKeeper; readonly read?: ReadTrees | undefined },
): StepFrame {
  requireText(mutation);
  const frame = { ...headOf(mutation, at), ...treesOf(mutation, keeper, read) };
  requireShort(frame);
  return frame;
}

/** Reads an entry that a step removes, with its content. */
export const readRemoved = (entry: HeldEntry | undefined, keeper: ContentKeeper): Steps<RecordedTree> =>
  readTree(entry, (file) => keptFile(file, keeper));

/** Reads an entry that a step places. */
export const readPlaced = (entry: HeldEntry | undefined): Steps<RecordedTree> => readTree(entry, placedFile);

/** Returns the frame of a step that cannot be undone. */
export const lostFrame = (mutation: Mutation, at: number, loss: Loss): StepFrame => ({
  ...headOf(mutation, at),
  before: { state: { kind: "other" } },
  after: { state: { kind: "other" } },
  unavailable: loss,
});

const kinds = {
  create: "place",
  replace: "place",
  copy: "place",
  "make-folder": "place",
  remove: "remove",
  rename: "rename",
  "change-mode": "chmod",
} as const;

function headOf(
  { kind, path, from }: Mutation,
  at: number,
): Pick<StepFrame, "at" | "kind" | "path" | "from"> {
  const known = kinds[kind as keyof typeof kinds];
  return known === "rename" ? { at, kind: known, path, from: from! } : { at, kind: known, path };
}

/** Requires names in UTF-8, because others cannot be named again. */
function requireText({ isText = true }: Mutation): void {
  if (!isText) throw new Unavailable("name");
}

/** Requires paths that are short enough to be named again. */
function requireShort({ path, from = path, before, after }: StepFrame): void {
  const inside = [...(before.inside ?? []), ...(after.inside ?? [])].map(([name]) => `${path}/${name}`);
  if ([path, from, ...inside].some((one) => isLonger(one, maxPathBytes))) throw new Unavailable("name");
}

function treesOf(
  mutation: Mutation,
  keeper: ContentKeeper,
  read: ReadTrees,
): Pick<StepFrame, "before" | "after"> {
  const { kind, entries, entry, permissions } = mutation;
  if (permissions !== undefined) return modesOf(entry, permissions);
  const before = read.before?.() ?? runAtOnce(readReplaced(mutation, keeper));
  const placed = read.after === undefined ? entries?.placed?.() : undefined;
  if (kind === "make-folder") return { before, after: { state: { kind: "dir", mode: placed?.mode } } };
  const after = read.after?.();
  if (after !== undefined) return { before, after };
  if (kind === "rename") return { before, after: { state: movedState(placed) } };
  if (placed?.kind !== "file") return { before, after: runAtOnce(readPlaced(placed)) };
  // Other listeners need this revision too, and hashing a large file takes long.
  const revision = placed.size > largestHashed ? undefined : mutation.revisionAfter();
  return { before, after: { state: runAtOnce(placedAtOnce(placed, revision)) } };
}

function* readReplaced({ kind, entries }: Mutation, keeper: ContentKeeper): Steps<RecordedTree> {
  const replaced = entries?.replaced();
  // A folder that is not set aside first has to be empty, or the step fails.
  const isEmpty = kind === "remove" && replaced?.kind === "dir" && entries?.aside === undefined;
  if (isEmpty) return { state: { kind: "dir", mode: replaced.mode } };
  return yield* readTree(replaced, (file) => {
    requireQuick(file);
    return keptFile(file, keeper, largestAtOnce);
  });
}

function modesOf(
  kind: Mutation["entry"],
  { before, after }: NonNullable<Mutation["permissions"]>,
): Pick<StepFrame, "before" | "after"> {
  // The content does not belong to it.
  const stateWith = (mode: number): RecordedState =>
    kind === "file" ? { kind, mode, revision: "" } : { kind: "dir", mode };
  if (kind !== "file" && kind !== "dir") throw new Unavailable("special-file");
  return { before: { state: stateWith(before.mode) }, after: { state: stateWith(after.mode) } };
}

/**
 * Returns the state of an entry that gets another name, which changes nothing else. A folder is not read, and
 * an entry whose bytes cannot be hashed is recorded by its identity.
 */
function movedState(entry: HeldEntry | undefined): RecordedState {
  const identity = entry?.identity?.();
  if (identity !== undefined && entry?.kind === "other") return { kind: "other", identity };
  if (identity !== undefined && entry?.kind === "file" && (entry.size > largestHashed || !isQuick(entry)))
    return { kind: "file", mode: entry.mode, revision: "", identity };
  return runAtOnce(stateOf(entry, placedAtOnce));
}

type FileState = (file: HeldEntry) => Steps<RecordedState>;

function* readTree(entry: HeldEntry | undefined, ofFile: FileState): Steps<RecordedTree> {
  const state = yield* stateOf(entry, ofFile);
  if (state.kind !== "dir") return { state };
  const inside: [string, RecordedState][] = [];
  for (const found of entry!.inside()) {
    yield;
    if (found === undefined) continue;
    const { path, isText, entry: held } = found;
    if (inside.length === maxEntries) throw new Unavailable("too-large");
    if (!isText) throw new Unavailable("name");
    inside.push([path, yield* stateOf(held, ofFile)]);
  }
  return inside.length === 0 ? { state } : { state, inside };
}

function* stateOf(entry: HeldEntry | undefined, ofFile: FileState): Steps<RecordedState> {
  if (entry === undefined) return { kind: "absent" };
  if (entry.kind === "file") return yield* ofFile(entry);
  if (entry.kind === "dir") return { kind: "dir", mode: entry.mode };
  if (entry.kind === "symlink") return { kind: "symlink", text: entry.linkText().toString("base64") };
  throw new Unavailable("special-file");
}

/** Like `placedFile`, but in one step. */
function placedAtOnce(file: HeldEntry, known?: string): Steps<RecordedState> {
  if (known === undefined) requireQuick(file);
  return placedFile(file, known);
}

/** Throws `Unavailable` for a file that nothing has hashed ahead, and that is too large to hash at once. */
function requireQuick(file: HeldEntry): void {
  if (!isQuick(file)) throw new Unavailable("too-large");
}

/** Returns whether the revision of a file is known, or can be found at once. */
const isQuick = (file: HeldEntry): boolean =>
  file.size <= largestAtOnce || file.read(quickRevisionOf) !== undefined;

function* placedFile(file: HeldEntry, known?: string): Steps<RecordedState> {
  const { mode, size } = file;
  if (size > largestHashed) throw new Unavailable("too-large");
  const revision = known ?? (yield* file.readInSteps((descriptor) => hashInSteps(descriptor, size)));
  return { kind: "file", mode, revision: revision! };
}

function* hashInSteps(descriptor: number, size: number): Steps<string> {
  if (size > largestSmall) return (yield* revisionInSteps(descriptor))!;
  yield;
  return revisionOfBytes([bytesOf(descriptor, size)]);
}

/** Keeps a file. One of more than `mostCopied` bytes has to have been copied before. */
function* keptFile(file: HeldEntry, keeper: ContentKeeper, mostCopied = largestHashed): Steps<RecordedState> {
  const { mode, size } = file;
  if (size > Math.min(keeper.room, largestHashed)) throw new Unavailable("too-large");
  if (size > largestSmall) {
    const kept = yield* file.readInSteps(function* (descriptor) {
      const stamps = stampsOf(descriptor);
      const copied = isLarge(file) ? keeper.keepCopied(descriptor, size) : undefined;
      if (copied === undefined && size > mostCopied) throw new Unavailable("too-large");
      const content = copied ?? (yield* keeper.keepBlob(descriptor, size));
      const revision = (yield* revisionInSteps(descriptor))!;
      // A program that writes to it may have done so between the copy and the revision.
      return stampsOf(descriptor) === stamps ? { content, revision } : yield* keeper.readKept();
    });
    return { kind: "file", mode, ...ownerToKeep(file), ...kept! };
  }
  const bytes = file.read((descriptor) => bytesOf(descriptor, size))!;
  const kept = { revision: revisionOfBytes([bytes]), content: keeper.keepSmall(bytes) };
  return { kind: "file", mode, ...ownerToKeep(file), ...kept };
}

/** Returns the owner of a file, unless a new file of this process would have it and needs no other rights. */
function ownerToKeep({ owner, mode }: HeldEntry): Pick<HeldEntry, "owner"> {
  const isOwn = owner?.uid === process.geteuid?.() && owner?.gid === process.getegid?.();
  return owner === undefined || (isOwn && (mode & 0o6000) === 0) ? {} : { owner };
}

/** Returns the content of a small file, whose size may have changed. */
function bytesOf(descriptor: number, size: number): Buffer {
  let bytes = Buffer.allocUnsafe(size + 1);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length);
    length += read;
    if (length > largestSmall) throw new Unavailable("too-large");
    // A short read of a regular file is the last one.
    if (length < bytes.length) return bytes.subarray(0, length);
    bytes = Buffer.concat([bytes, Buffer.allocUnsafe(bytes.length)]);
  }
}
