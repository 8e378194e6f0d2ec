import type { FunctionDefinition, RequestPath } from "./definition.ts";
import type { Touch } from "./origin.ts";

/**
 * Returns the distinct strings in a request that are paths, without those that are a part of a longer text.
 */
export function pathsOf(request: unknown, fields: readonly RequestPath[]): string[] {
  const found = new Set<string>();
  somePath(request, fields, (path) => {
    found.add(path);
    return false;
  });
  return [...found];
}

/**
 * Returns whether a test holds for one of these strings. It may test a string twice: a request of the profile
 * `contract` may have half a million, too many to copy.
 */
export function somePath(
  request: unknown,
  fields: readonly RequestPath[],
  test: (path: string) => boolean,
): boolean {
  const isFound = (value: unknown) => typeof value === "string" && test(value);
  return fields.some((field) => !isPartOfText(field) && someValue(request, namesIn(field.at), isFound));
}

const namesIn = (pointer: string): readonly string[] => pointer.split("/").slice(1);

/**
 * Returns whether a test holds for a value that a JSON pointer leads to. The name `*` stands for each item of
 * an array.
 */
function someValue(
  value: unknown,
  [name, ...rest]: readonly string[],
  test: (value: unknown) => boolean,
): boolean {
  if (name === undefined) return test(value);
  if (typeof value !== "object" || value === null) return false;
  if (name !== "*") return someValue((value as Readonly<Record<string, unknown>>)[name], rest, test);
  const items = Array.isArray(value) ? value : Object.values(value);
  return items.some((item) => someValue(item, rest, test));
}

/**
 * Maximum paths of a call that are compared with those of other calls. Resolving them takes a few
 * milliseconds, in one step.
 */
const maxComparedPaths = 100;

/**
 * Maximum levels of these paths, since those of other calls are compared at each level, and of everything
 * that decides where the paths lead.
 */
const maxComparedLevels = { sent: 2000, touched: 8000 } as const;

/** Returns the number of levels of some paths, or one more than `most`. */
export function countLevels(paths: Iterable<string>, most: number): number {
  let levels = 0;
  for (const path of paths) {
    levels++;
    for (let at = path.indexOf("/"); at >= 0 && levels <= most; at = path.indexOf("/", at + 1)) levels++;
    if (levels > most) return most + 1;
  }
  return levels;
}

/**
 * Returns the parts of the tree that a call may touch, by the paths and the effect of its definition.
 * `dependenciesOf` returns the paths, from the base, that decide where a path leads. A call whose
 * definition does not name its paths one by one touches the whole tree, and so do one with many or deep
 * paths and one that lists: ignore files anywhere above a folder decide on the entries below it. So does
 * every call with files without `dependenciesOf`.
 */
export function touchesOf(
  { paths, effect, touchesNoFiles = false, walksTree }: FunctionDefinition,
  request: unknown,
  dependenciesOf: ((path: string) => readonly string[]) | undefined,
): Touch[] {
  if (touchesNoFiles) return [];
  const wholeTree = [{ path: "", writes: effect === "writes" }];
  if (dependenciesOf === undefined) return wholeTree;
  if (walksTree?.(request) === true || paths.length === 0 || paths.some(isPartOfText)) return wholeTree;
  if (paths.some((field) => isInLongList(request, field))) return wholeTree;
  const sent = new Map<string, boolean>();
  let isListing = false;
  for (const field of paths) {
    const { access } = field;
    if (access === "list") isListing = true;
    else {
      const writes = access !== "read" && access !== "copy";
      for (const path of pathsOf(request, [field])) sent.set(path, writes || sent.get(path) === true);
    }
  }
  if (sent.size > maxComparedPaths) return wholeTree;
  if (countLevels(sent.keys(), maxComparedLevels.sent) > maxComparedLevels.sent) return wholeTree;
  const writesAt = new Map<string, boolean>(isListing ? [["", false]] : []);
  for (const [path, writes] of sent)
    for (const touched of dependenciesOf(path))
      writesAt.set(touched, writes || writesAt.get(touched) === true);
  if (countLevels(writesAt.keys(), maxComparedLevels.touched) > maxComparedLevels.touched) return wholeTree;
  return [...writesAt].map(([path, writes]) => ({ path, writes }));
}

/**
 * Returns whether a call may add a symbolic link, so that other paths may then lead elsewhere: it moves or
 * copies entries, or its definition names no paths. No function creates a link, and patches change only
 * regular files.
 */
export function bringsLinks(
  { paths, effect, touchesNoFiles }: FunctionDefinition,
  request: unknown,
): boolean {
  if (effect !== "writes" || touchesNoFiles) return false;
  const brought = paths.filter(({ access }) => access === "move" || access === "copy");
  return paths.length === 0 || somePath(request, brought, () => true);
}

/** Returns whether the paths of a field are in a list with too many entries to be compared. */
function isInLongList(request: unknown, { at }: RequestPath): boolean {
  const [list = "", ...below] = at.split("/*");
  if (below.length === 0) return false;
  return someValue(
    request,
    namesIn(list),
    (value) => Array.isArray(value) && value.length > maxComparedPaths,
  );
}

const isPartOfText = ({ render }: RequestPath): boolean => render !== undefined;
