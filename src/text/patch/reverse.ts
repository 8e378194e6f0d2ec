import type { FilePatch, Hunk, Patch, SentNames } from "./patch.ts";
import { refusePatch } from "./patch-errors.ts";

/**
 * Returns the patch that undoes this one. Throws a refusal for a copy, and for a file that is deleted without
 * its lines, since the patch does not contain them.
 */
export function reversePatch(patch: Patch): Patch {
  return { ...patch, files: patch.files.map((file) => reverseFile(patch, file)).reverse() };
}

function reverseFile({ lines }: Patch, file: FilePatch): FilePatch {
  const at = { line: file.line + 1, text: lines.headerOf(file.line) };
  const hunks = file.hunks.map(reverseHunk);
  const names = file.names === undefined ? {} : { names: reverseNames(file.names) };
  const { path, paddedPath, line } = file;
  const common = { path, paddedPath, line, hunks, ...names };
  if (file.change === "add")
    return {
      ...common,
      change: "delete",
      ...(file.mode !== undefined && { oldMode: file.mode }),
      ...(hunks.length === 0 && { wasEmpty: true }),
    };
  if (file.change === "delete") {
    if (hunks.length === 0 && file.wasEmpty !== true)
      throw refusePatch.irreversible(at, "the lines of a deleted file");
    return { ...common, change: "add", ...(file.oldMode === 0o755 && { mode: file.oldMode }) };
  }
  const { mode, oldMode, target } = file;
  if (target?.isCopy === true) throw refusePatch.irreversible(at, "a copy");
  const modes = {
    ...(oldMode !== undefined && { mode: oldMode }),
    ...(mode !== undefined && { oldMode: mode }),
  };
  if (target === undefined) return { ...common, change: "update", ...modes };
  const moved = { path: target.path, paddedPath: target.paddedPath };
  return { ...common, change: "update", ...modes, ...moved, target: { path, paddedPath, isCopy: false } };
}

const reverseNames = ({ sides: [old, now], moved, ...names }: SentNames): SentNames => ({
  ...names,
  sides: [now, old],
  ...(moved !== undefined && { moved: [moved[1], moved[0]] }),
});

const reverseHunk = ({ header, ...hunk }: Hunk): Hunk => ({
  ...hunk,
  header: header && { old: header.new, new: header.old },
  isReversed: true,
});
