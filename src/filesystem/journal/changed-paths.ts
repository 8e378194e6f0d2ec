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
  const changed = new Map<string, ChangedPath & { readonly first: RecordedState["kind"] }>();
  for (const step of steps) {
    const first = changed.get(step.path)?.first ?? step.before.state.kind;
    const change = changeOf(step, first);
    const isLost = step.unavailable !== undefined || changed.get(step.path)?.unavailable === true;
    if (change === undefined && !isLost) changed.delete(step.path);
    else
      changed.set(step.path, {
        path: step.path,
        ...(step.from !== undefined && { from: step.from }),
        change: change ?? "modified",
        ...(isLost && { unavailable: true }),
        first,
      });
  }
  return [...changed.values()].map(({ first: _, ...path }) => path);
}

/** Returns the change, or `undefined` for a path that was created and removed again. */
function changeOf({ kind, after, unavailable }: RecordedStep, first: string): PathChange | undefined {
  if (kind === "rename") return "moved";
  if (kind === "remove") return first === "absent" && unavailable === undefined ? undefined : "deleted";
  if (unavailable !== undefined) return "modified";
  if (first === "absent") return after.state.kind === "absent" ? undefined : "created";
  return kind === "chmod" ? "mode" : "modified";
}
