import { namesOf } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import type { Pause, RecordedStep } from "../../filesystem/journal/read-record.ts";
import type { CoderContext } from "../define.ts";

/** The tree that a request is about, and the defaults of its fields. */
type RequestedIn = Pick<CoderContext, "jail" | "profile">;

/** The paths of a request: in the form of records, by those that were sent. */
export type RequestedPaths = ReadonlyMap<string, string>;

/** Returns the paths of a request, calling `pause` after each, since each may take a walk from the base. */
export async function requestedPaths(
  sent: readonly string[],
  context: RequestedIn,
  pause: Pause,
): Promise<RequestedPaths> {
  const paths = new Map<string, string>();
  for (const path of sent) {
    paths.set(path, requestedPath(path, context));
    await pause();
  }
  return paths;
}

/**
 * Returns a function that tests whether a step begins or ends at one of these paths, or below one. Paths are
 * compared as text, in the form of records: with links resolved, regardless of the current tree.
 */
export const selectPaths =
  (paths: ReadonlySet<string>): ((step: StepNames) => boolean) =>
  (step) => {
    for (const end of endsOf(step)) for (const level of levelsOf(end)) if (paths.has(level)) return true;
    return false;
  };

/** Returns those of the paths at or below which a record has changed something that the call may know of. */
export async function pathsChangedBy(
  { steps }: { readonly steps: readonly StepNames[] },
  paths: ReadonlySet<string>,
  { jail, pause }: { readonly jail: Pick<Jail, "denies" | "scope">; readonly pause: Pause },
): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  for (const step of steps) {
    if (changed.size === paths.size) break;
    const met = endsOf(step).flatMap((end) => [...levelsOf(end)].filter((level) => paths.has(level)));
    if (met.length > 0 && isShown(step, jail)) for (const path of met) changed.add(path);
    await pause();
  }
  return changed;
}

/** Returns whether a test holds for any of the items, calling `pause` between two of them. */
export async function someInPauses<T>(
  items: readonly T[],
  test: (item: T) => boolean,
  pause: Pause,
): Promise<boolean> {
  for (const item of items) {
    if (test(item)) return true;
    await pause();
  }
  return false;
}

/** Yields a path and the folders above it, the innermost first, and then the base, which is "". */
export function* levelsOf(path: string): Generator<string, void, void> {
  if (path !== "") yield path;
  for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
    yield path.slice(0, slash);
  yield "";
}

/**
 * Returns the path of a request in the form of records, like `plainPath`. In the profile `agent` it resolves
 * `..`, and throws the refusal of a path that leads out, where nothing is ever recorded.
 */
export function requestedPath(path: string, { jail, profile }: RequestedIn): string {
  const plain = plainPath(path, jail);
  if (!profile.explained_errors || plain === "") return plain;
  const isInRoot = jail.roots.some(({ hostPath }) => `${path}/`.startsWith(`${hostPath}/`));
  if (!namesOf(plain).includes("..") && (isInRoot || !path.startsWith("/"))) return plain;
  using place = jail.admit(path, { ...inAnyState, lastLink: "bare" });
  return place.path;
}

/** Options to admit a path whether something is there, may be seen, or not. */
export const inAnyState = {
  mayBeMissing: true,
  mayBeFolder: true,
  parents: true,
  deniedIsMissing: true,
} as const;

/** Returns a path in the form of records, relative to the base or the top folder, which are "". */
export function plainPath(path: string, { roots, scope }: Pick<Jail, "roots" | "scope">): string {
  const deepest = [...roots].sort((one, other) => other.hostPath.length - one.hostPath.length);
  const root = deepest.find(({ hostPath }) => path === hostPath || path.startsWith(`${hostPath}/`));
  const names = root === undefined ? path : `${root.name}${path.slice(root.hostPath.length)}`;
  const start = root === undefined && scope !== undefined ? scope.root : [];
  return [...start, ...names.split("/")].filter((name) => name !== "" && name !== ".").join("/");
}

/** The names that a step of the journal affects. */
export type StepNames = Pick<RecordedStep, "path" | "from">;

export const endsOf = ({ path, from }: StepNames): readonly string[] =>
  from === undefined ? [path] : [path, from];

/** Returns whether a call may know of the step. For a move, both names must be visible. */
export const isShown = (step: StepNames, jail: Pick<Jail, "denies" | "scope">): boolean =>
  endsOf(step).every((path) => isVisible(path, jail));

/** Returns whether a call may know of a path of the journal: it is not denied, and in the call's scope. */
const isVisible = (path: string, { denies, scope }: Pick<Jail, "denies" | "scope">): boolean =>
  !denies(namesOf(path)) && (scope?.contains(path) ?? true);
