/**
 * Decides which files the names of a patch mean: how many leading parts are prefixes in a unified diff, and
 * whether blanks around a name belong to it in the format V4A, which has no quotes.
 */

import type { Steps } from "../../base/scheduling/time-slice.ts";
import { withoutParts } from "./file-names.ts";
import { newPathOf } from "./order.ts";
import type { FilePatch, Patch, PatchPath, SentNames } from "./patch.ts";
import { refusePatch } from "./patch-errors.ts";

interface Resolving {
  /** The number of leading parts to remove from each name; found if `undefined`. */
  readonly strip: number | undefined;
  /** Returns whether there is a file at a path. */
  readonly exists: (path: string) => boolean;
  /** Returns whether there is anything at a path. */
  readonly isTaken: (path: string) => boolean;
}

/** Maximum leading parts that are tried as prefixes. */
const maxParts = 32;

/**
 * Returns the patch with the paths that its names mean. In the format V4A, blanks around any name belong to
 * it if something has that name. In a unified diff, prefixes of git are removed in any case. Otherwise as
 * many parts are removed, the same number for all files, as makes both names of a file equal and gives
 * files that exist. Throws a refusal for a file with two names, and for names with fewer parts.
 */
export function* resolveNames(patch: Patch, { strip, exists, isTaken }: Resolving): Steps<Patch> {
  const inSteps = function* (nameOf: (file: FilePatch) => FilePatch): Steps<Patch> {
    const files: FilePatch[] = [];
    for (const file of patch.files) {
      files.push(nameOf(file));
      yield;
    }
    return { ...patch, files };
  };
  if (patch.format !== "unified") return yield* inSteps((file) => withBlanks(file, isTaken));
  if (strip !== undefined) return yield* inSteps((file) => renamed(patch, file, strip));
  const created = new Set<string>();
  const isFile = remembering(exists);
  const isThere = (path: string) => created.has(path) || isFile(path);
  const doubtful = new Set<FilePatch>();
  for (const file of patch.files) {
    const { names } = file;
    if (names !== undefined && !isFileAt(file, names.prefixParts, isThere)) doubtful.add(file);
    const target = newPathOf(file);
    if (target !== undefined) created.add(target);
    yield;
  }
  const parts = doubtful.size === 0 ? undefined : yield* partsFor(doubtful, isThere);
  return yield* inSteps((file) => {
    const { names } = file;
    if (names === undefined) return file;
    // A new file without a prefix of git lies beside the others.
    const follows = doubtful.has(file) || (file.change === "add" && names.prefixParts === 0);
    return renamed(patch, file, (follows ? parts : undefined) ?? names.prefixParts, isThere);
  });
}

/** Returns the function with its results kept, since each takes a walk from the base. */
function remembering(exists: (path: string) => boolean): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const isThere = known.get(path) ?? exists(path);
    known.set(path, isThere);
    return isThere;
  };
}

/** Returns the file with the blanks around its paths that belong to them. */
function withBlanks(file: FilePatch, isTaken: (path: string) => boolean): FilePatch {
  const padded = ({ paddedPath: path }: PatchPath) => path !== undefined && isTaken(path) && { path };
  const target = file.change === "update" && file.target;
  return { ...file, ...padded(file), ...(target && { target: { ...target, ...padded(target) } }) };
}

/** Returns the smallest number of parts that gives all files. */
function* partsFor(
  files: ReadonlySet<FilePatch>,
  isThere: (path: string) => boolean,
): Steps<number | undefined> {
  for (let parts = 0; parts <= maxParts; parts++) {
    let fits = true;
    for (const file of files) {
      yield;
      fits = mayBePrefix(file, parts) && isFileAt(file, parts, isThere);
      if (!fits) break;
    }
    if (fits) return parts;
  }
  return undefined;
}

/**
 * Returns whether `parts` leading parts may be prefixes. A prefix of git is never longer, and an absolute
 * path on both sides has none: it may lead out of the folder.
 */
function mayBePrefix({ names }: FilePatch, parts: number): boolean {
  const [old, now] = names?.sides ?? [];
  const isAbsolute = now?.startsWith("/") === true && (old === undefined || old === now);
  return isAbsolute ? parts === 0 : names?.prefixParts !== 1 || parts <= 1;
}

function isFileAt(file: FilePatch, parts: number, isThere: (path: string) => boolean): boolean {
  const { names } = file;
  if (names === undefined) return true;
  if (names.moved !== undefined) return isThere(withoutParts(names.moved[0], Math.max(0, parts - 1)) ?? "");
  const path = pathAt(names, parts, isThere);
  if (path === undefined) return false;
  return file.change === "add" || (file.change === "update" && file.mayBeMissing === true) || isThere(path);
}

/**
 * Returns the path that both names give without their first parts, or `undefined` if they differ. If one
 * only adds to the other, like `f.orig`, it is the one that exists, or else the shorter one.
 */
export function pathAt(
  { sides }: SentNames,
  parts: number,
  isThere: (path: string) => boolean = () => false,
): string | undefined {
  const [old, now] = sides.map((side) => (side === undefined ? undefined : withoutParts(side, parts)));
  // A name that exists on one side only stands for itself.
  if (sides[0] === undefined) return now;
  if (sides[1] === undefined) return old;
  if (old === undefined || now === undefined) return undefined;
  if (old === now) return now;
  const [shorter, longer] = old.length < now.length ? [old, now] : [now, old];
  if (!longer.startsWith(shorter) || longer.slice(shorter.length).includes("/")) return undefined;
  return !isThere(shorter) && isThere(longer) ? longer : shorter;
}

/** Returns the file with `parts` leading parts removed from its paths. */
function renamed(
  { lines }: Patch,
  file: FilePatch,
  parts: number,
  isThere?: (path: string) => boolean,
): FilePatch {
  const { names } = file;
  if (names === undefined) return file;
  const at = { line: file.line + 1, text: lines.headerOf(file.line) };
  const { moved, sides } = names;
  if (moved !== undefined && file.change === "update") {
    const [from, to] = moved.map((name) => withoutParts(name, Math.max(0, parts - 1)));
    if (from === undefined || to === undefined) throw refusePatch.tooFewParts(at, parts);
    return {
      ...file,
      path: from,
      ...(file.target !== undefined && { target: { ...file.target, path: to } }),
    };
  }
  const path = pathAt(names, parts, isThere);
  if (path !== undefined) return { ...file, path };
  const [old, now] = sides.map((side) => withoutParts(side ?? "", parts));
  if (old === undefined || now === undefined) throw refusePatch.tooFewParts(at, parts);
  throw refusePatch.twoNames(at, [old, now]);
}
