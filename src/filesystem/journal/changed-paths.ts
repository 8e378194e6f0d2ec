import type { RecordedState } from "./frame.ts";
import type { RecordedStep } from "./read-record.ts";

/** The change of a path in one call. */
export type PathChange = "created" | "modified" | "deleted" | "moved" | "mode";

export interface ChangedPath {
  readonly path: string;
  /** The earlier path of a moved entry. */
  readonly from?: string;
  readonly change: PathChange;
  /** Present if the change cannot be undone. */
  readonly unavailable?: true;
}

/** Returns the change of each path that these steps of a call changed, in the order of the first changes. */
export function changedPaths(steps: readonly RecordedStep[]): ChangedPath[] {
  const changed = new Map<string, Changed>();
  for (const step of steps) {
    const first = changed.get(step.path)?.first ?? step.before.state.kind;
    if (step.kind === "rename" && step.from !== undefined) addRename(changed, step, step.from);
    else if (changed.get(step.path)?.from !== undefined) addToMoved(changed, step);
    else {
      const change = changeOf(step, first);
      const isLost = step.unavailable !== undefined || changed.get(step.path)?.unavailable === true;
      if (change === undefined && !isLost) changed.delete(step.path);
      else changed.set(step.path, { ...lost(isLost), change: change ?? "modified", first });
    }
  }
  return [...changed].map(([path, { first: _, isEdited: __, ...rest }]) => ({ path, ...rest }));
}

interface Changed extends Omit<ChangedPath, "path"> {
  /** The kind of the entry at the path before the first step. */
  readonly first: RecordedState["kind"];
  /** Whether an entry with another path now also has another content or mode. */
  readonly isEdited?: boolean;
}

const lost = (isLost: boolean) => (isLost ? { unavailable: true as const } : {});

/** Adds a rename, which takes along what the call has already changed there and below. */
function addRename(changed: Map<string, Changed>, { path, before, unavailable }: RecordedStep, from: string) {
  const moved = changed.get(from);
  const first = changed.get(path)?.first ?? before.state.kind;
  const isLost = unavailable !== undefined || moved?.unavailable === true;
  const isEdited = moved !== undefined && (moved.isEdited ?? true);
  const isNew = moved?.change === "created";
  changed.delete(from);
  changed.delete(path);
  for (const [inside, entry] of [...changed]) {
    if (!inside.startsWith(`${from}/`)) continue;
    changed.delete(inside);
    changed.set(path + inside.slice(from.length), entry);
  }
  const origin = moved?.from ?? from;
  if (isNew)
    changed.set(path, { ...lost(isLost), change: first === "absent" ? "created" : "modified", first });
  else if (origin !== path)
    changed.set(path, { ...lost(isLost), change: "moved", from: origin, first, isEdited });
  else if (isEdited || isLost) changed.set(path, { ...lost(isLost), change: "modified", first });
}

/** Adds another change of an entry that the call has moved. */
function addToMoved(changed: Map<string, Changed>, { kind, path, before, unavailable }: RecordedStep) {
  const { from, ...moved } = changed.get(path)!;
  const isLost = unavailable !== undefined || moved.unavailable === true;
  if (kind !== "remove") {
    changed.set(path, { ...moved, ...lost(isLost), from: from!, isEdited: true });
    return;
  }
  changed.delete(path);
  changed.set(from!, { ...lost(isLost), change: "deleted", first: before.state.kind });
  if (moved.first !== "absent") changed.set(path, { ...lost(isLost), change: "deleted", first: moved.first });
}

/** Returns the change, or `undefined` for a path that was created and removed again. */
function changeOf({ kind, after, unavailable }: RecordedStep, first: string): PathChange | undefined {
  if (kind === "rename") return "moved";
  if (kind === "remove") return first === "absent" && unavailable === undefined ? undefined : "deleted";
  if (unavailable !== undefined) return "modified";
  if (first === "absent") return after.state.kind === "absent" ? undefined : "created";
  return kind === "chmod" ? "mode" : "modified";
}
