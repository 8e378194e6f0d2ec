import { refuse } from "../../base/errors.ts";

/** The parts of a path that a caller sent. */
export interface ParsedPath {
  /** The names in order, including any `..`; empty for the base. */
  readonly names: readonly string[];
  /** Whether it ends in "/" or "/.", and so can only mean a folder. */
  readonly folderOnly: boolean;
}

export const maxPathBytes = 4096;
const maxNameBytes = 255;

/**
 * Parses a path of the wire (coder §5): relative, "/" between names, `.` the base. With `roots` a path may be
 * absolute as well, and then lies below one of them, as in `parseAbsolutePath`. Throws bad-input for any
 * other text. It reveals nothing about the disk.
 */
export function parsePath(path: string, roots?: readonly string[]): ParsedPath {
  if (path === "") throw refuse.emptyPath();
  if (path.includes("\0")) throw refuse.malformedPath(path, "holds a NUL character");
  const isAbsolute = path.startsWith("/");
  if (isAbsolute && roots === undefined) throw refuse.absolutePath(path);
  // A lone surrogate would become U+FFFD on disk, and so a second spelling of another name.
  if (/\p{Surrogate}/u.test(path)) throw refuse.malformedPath(path, "is not well-formed Unicode");
  if (isLonger(path, maxPathBytes)) throw refuse.malformedPath(path, `is longer than ${maxPathBytes} bytes`);
  const parsed = splitPath(path);
  if (parsed.names.some((name) => isLonger(name, maxNameBytes))) {
    throw refuse.malformedPath(path, `has a name longer than ${maxNameBytes} bytes`);
  }
  return isAbsolute ? { ...parsed, names: namesInside(path, parsed.names, roots!) } : parsed;
}

/**
 * Parses an absolute path of the wire. `roots` are the host paths of the base, each ending in "/", and the
 * path must lie below one of them: a `..` may cross the folders above the base, but no other name may. It
 * ignores a trailing "/". Throws bad-input for a relative path, outside for one that leads elsewhere, io for
 * one that system calls refuse.
 */
export function parseAbsolutePath(path: string, roots: readonly string[]): ParsedPath {
  if (!path.startsWith("/")) throw refuse.relativePath(path);
  if (path.includes("\0")) throw refuse.io(path, "it holds a NUL character (EINVAL)");
  if (/\p{Surrogate}/u.test(path)) throw refuse.io(path, "it is not well-formed Unicode (EILSEQ)");
  const { names } = splitPath(path);
  if (isLonger(path, maxPathBytes) || names.some((name) => isLonger(name, maxNameBytes))) {
    throw refuse.io(path, "it, or a name in it, is too long (ENAMETOOLONG)");
  }
  return { names: namesInside(path, names, roots), folderOnly: false };
}

/**
 * A root among several: its name in the top folder, and the spellings of its host path, each ending in "/".
 */
interface NamedRoot {
  readonly name: string;
  readonly linkRoots: readonly string[];
}

/**
 * Parses the host path of something in one of the roots, the innermost of those that it lies in. Throws like
 * `parsePath`, outside for one that leads elsewhere.
 */
export function parseInRoots(path: string, roots: readonly NamedRoot[]): ParsedPath {
  const spelled = roots.flatMap(({ name, linkRoots }) => linkRoots.map((root) => ({ name, root })));
  for (const { name, root } of spelled.sort((one, other) => other.root.length - one.root.length)) {
    if (namesBelow(splitPath(path).names, splitPath(root).names) === undefined) continue;
    const { names, folderOnly } = parsePath(path, [root]);
    if (!climbs(names)) return { names: [name, ...names], folderOnly };
  }
  parsePath(path, []);
  throw refuse.outside(path);
}

/** Returns whether a `..` leads out of the folder where the names begin. */
function climbs(names: readonly string[]): boolean {
  let depth = 0;
  return names.some((name) => {
    depth += name === ".." ? -1 : 1;
    return depth < 0;
  });
}

/** Returns the names after the first root that they lead to. */
function namesInside(path: string, names: readonly string[], roots: readonly string[]): string[] {
  for (const root of roots) {
    const below = namesBelow(names, splitPath(root).names);
    if (below !== undefined) return below;
  }
  throw refuse.outside(path);
}

/** Returns the names after `root`, or `undefined` if they do not lead there. */
function namesBelow(names: readonly string[], root: readonly string[]): string[] | undefined {
  let depth = 0;
  for (const [index, name] of names.entries()) {
    if (name === "..") depth = Math.max(depth - 1, 0);
    else if (depth === root.length) return names.slice(index);
    else if (name === root[depth]) depth++;
    else return undefined;
  }
  return depth === root.length ? [] : undefined;
}

/** Splits any path, such as the target of a link: drops empty names and `.`, keeps `..`. */
export function splitPath(path: string): ParsedPath {
  const all = path.split("/");
  const last = all.at(-1);
  return {
    names: all.filter((name) => name !== "" && name !== "."),
    folderOnly: last === "" || last === ".",
  };
}

/**
 * Throws bad-input unless `path` may name something new. Existing names may be anything; new ones must not be
 * likely mistakes: a Windows path would become one strange name, and no user can type control characters.
 */
export function validateNewPath(path: string, newNames: readonly string[], folderOnly: boolean): void {
  if (folderOnly) throw refuse.malformedPath(path, 'ends with "/", which names a folder and not a new file');
  if (/^[A-Za-z]:[\\/]/.test(path)) throw refuse.malformedPath(path, "begins with a drive letter");
  for (const name of newNames) {
    if (name.includes("\\")) throw refuse.malformedPath(path, "holds a backslash");
    if (/[\0-\x1f\x7f]/.test(name)) throw refuse.malformedPath(path, "holds a control character");
  }
}

/**
 * Returns whether a text is longer. Measures only texts that could be: a code unit takes at most three bytes.
 */
export const isLonger = (text: string, bytes: number): boolean =>
  text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
