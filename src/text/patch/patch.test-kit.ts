/** Applies patches to trees in memory. */
import { Refusal } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { applyHunks } from "./apply.ts";
import { findDependencies } from "./order.ts";
import { parsePatch } from "./parse.ts";
import type { FilePatch, Patch } from "./patch.ts";
import { resolveNames } from "./resolve-names.ts";
import { reversePatch } from "./reverse.ts";

/** The contents of files, keyed by path. */
export type Texts = Readonly<Record<string, string>>;

interface TestFile {
  readonly body: Buffer;
  readonly mode: number;
}

/** The contents and permission bits of files, keyed by path. */
export type TestTree = Map<string, TestFile>;

type Format = "auto" | "v4a" | "unified";

export interface PatchOptions {
  readonly format?: Format;
  readonly reverse?: boolean;
  readonly strip?: number;
}

export const parse = (text: string, format: Format = "auto"): Patch =>
  runAtOnce(parsePatch(Buffer.from(text), format));

/** Returns the tree after the patch. Throws the refusal that a caller would get. */
export const patched = (before: Texts, text: string, options: PatchOptions = {}): Texts =>
  textsOf(patchedTree(treeFrom(before), Buffer.from(text), options));

export const treeFrom = (texts: Texts): TestTree =>
  new Map(Object.entries(texts).map(([path, text]) => [path, { body: Buffer.from(text), mode: 0o644 }]));

export const textsOf = (tree: TestTree): Texts =>
  Object.fromEntries([...tree].map(([path, { body }]) => [path, body.toString()]));

/** Like `patched`, but for bytes and modes. */
export function patchedTree(before: TestTree, text: Buffer, options: PatchOptions = {}): TestTree {
  const parsed = runAtOnce(parsePatch(text, options.format ?? "auto"));
  const turned = options.reverse === true ? reversePatch(parsed) : parsed;
  const exists = (path: string) => before.has(path);
  const patch = runAtOnce(resolveNames(turned, { strip: options.strip, exists, isTaken: exists }));
  const { held, removedFirst } = runAtOnce(findDependencies(patch));
  const heldSources = new Map([...held].map((file) => [file, before.get(file.path)]));
  const tree: TestTree = new Map(before);
  for (const file of removedFirst) {
    if (!tree.has(file.path)) throw new Refusal("missing", `${file.path} is missing`);
    if (file.change === "delete") patchFile(tree, file, patch);
    else tree.delete(file.path);
  }
  for (const file of patch.files)
    if (!(removedFirst.has(file) && file.change === "delete"))
      patchFile(tree, file, patch, heldSources.get(file));
  return tree;
}

function patchFile(tree: TestTree, file: FilePatch, patch: Patch, held?: TestFile): void {
  const { path } = file;
  const source = held ?? tree.get(path);
  const isNew =
    file.change === "add" || (file.change === "update" && file.mayBeMissing && source === undefined);
  if (isNew && isTaken(tree, path)) throw new Refusal("exists", `${path} is there`);
  if (!isNew && source === undefined) throw new Refusal("missing", `${path} is missing`);
  const { body, mode } = source ?? { body: Buffer.alloc(0), mode: 0o644 };
  const after = runAtOnce(applyHunks(body, file, patch)).body;
  const isMoved = file.change === "update" && file.target?.isCopy === false;
  if (file.change === "delete" || (isMoved && held === undefined)) tree.delete(path);
  if (file.change === "delete") return;
  const target = file.change === "update" ? (file.target?.path ?? path) : path;
  if (target !== path && isTaken(tree, target)) throw new Refusal("exists", `${target} is there`);
  tree.set(target, { body: after, mode: file.mode ?? mode });
}

const isTaken = (tree: TestTree, path: string): boolean =>
  tree.has(path) ||
  [...tree.keys()].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));

/** Returns the refusal of a patch. */
export function refusalOf(before: Texts, text: string, options: PatchOptions = {}): Refusal {
  try {
    patched(before, text, options);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("the patch was applied");
}
