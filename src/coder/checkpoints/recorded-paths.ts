import { namesOf } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import type { RecordedStep } from "../../filesystem/journal/read-record.ts";
import type { CoderContext } from "../define.ts";

/** The tree that a request is about, and the defaults of its fields. */
type RequestedIn = Pick<CoderContext, "jail" | "profile">;

/**
 * Returns a function that tests whether a path of the journal is one of these, or below one. Paths are
 * compared as text, in the form of records: with links resolved, regardless of the current tree.
 */
export function selectPaths(requested: readonly string[], context: RequestedIn): (path: string) => boolean {
  const wanted = new Set(requested.map((path) => requestedPath(path, context)));
  return (path) => {
    if (wanted.has("") || wanted.has(path)) return true;
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
      if (wanted.has(path.slice(0, slash))) return true;
    return false;
  };
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

export const endsOf = ({ path, from = path }: StepNames): readonly string[] => [path, from];

/** Returns whether a call may know of the step. For a move, both names must be visible. */
export const isShown = (step: StepNames, jail: Pick<Jail, "denies" | "scope">): boolean =>
  endsOf(step).every((path) => isVisible(path, jail));

/** Returns whether a call may know of a path of the journal: it is not denied, and in the call's scope. */
const isVisible = (path: string, { denies, scope }: Pick<Jail, "denies" | "scope">): boolean =>
  !denies(namesOf(path)) && (scope?.contains(path) ?? true);
