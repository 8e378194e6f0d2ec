/** Applies patches to trees of texts in memory. */
import { Refusal } from "../errors.ts";
import { runAtOnce } from "../scheduling/time-slice.ts";
import { applyHunks } from "./apply.ts";
import { parsePatch } from "./parse.ts";
import type { FilePatch, Patch } from "./patch.ts";

/** The contents of files, keyed by path. */
export type Texts = Readonly<Record<string, string>>;

export const parse = (text: string, format: "auto" | "v4a" | "unified" = "auto"): Patch =>
  runAtOnce(parsePatch(Buffer.from(text), format));

/**
 * Returns the tree after the patch. Throws the refusal that a caller would get, or an Error for a missing
 * file.
 */
export function patched(before: Texts, text: string, format: "auto" | "v4a" | "unified" = "auto"): Texts {
  const patch = parse(text, format);
  const tree = new Map(Object.entries(before));
  for (const file of patch.files) patchFile(tree, file, patch);
  return Object.fromEntries([...tree].sort());
}

function patchFile(tree: Map<string, string>, file: FilePatch, patch: Patch): void {
  const { path } = file;
  if (file.change === "add" && tree.has(path)) throw new Error(`${path} is there`);
  if (file.change !== "add" && !tree.has(path)) throw new Error(`${path} is missing`);
  const body = tree.get(path) ?? "";
  const after = runAtOnce(applyHunks(Buffer.from(body), file, patch)).body.toString();
  if (file.change === "delete" || (file.change === "update" && file.target?.isCopy === false))
    tree.delete(path);
  if (file.change === "delete") return;
  tree.set(file.change === "update" ? (file.target?.path ?? path) : path, after);
}

/** The refusal of a patch. */
export function refusalOf(before: Texts, text: string, format: "auto" | "v4a" | "unified" = "auto"): Refusal {
  try {
    patched(before, text, format);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("the patch was applied");
}
