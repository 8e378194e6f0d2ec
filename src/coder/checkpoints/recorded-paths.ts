import { namesOf } from "../../filesystem/jail/backend.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import type { RecordedStep } from "../../filesystem/journal/read-record.ts";

/**
 * Returns a function that tests whether a path of the journal is one of these, or below one. Paths are
 * compared as text, in the form of records: with links resolved, regardless of the current tree.
 */
export function selectPaths(
  requested: readonly string[],
  jail: Pick<Jail, "roots" | "scope">,
): (path: string) => boolean {
  const wanted = new Set(requested.map((path) => plainPath(path, jail)));
  return (path) => {
    if (wanted.has("") || wanted.has(path)) return true;
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
      if (wanted.has(path.slice(0, slash))) return true;
    return false;
  };
}

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
