import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { RecordedState } from "./frame.ts";
import { netSteps } from "./net-steps.ts";
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

/** The entry that a path has at one time of a call. */
interface Held {
  /** Its path before the call; `undefined` if the call made it. */
  readonly origin: string | undefined;
  readonly change?: "modified" | "mode";
}

/**
 * Returns the net effect of a call's steps, ordered by the first change of each path: an entry that was moved
 * and edited counts as moved, and one that was created and removed is left out.
 */
export function* changedPaths(steps: readonly RecordedStep[]): Steps<ChangedPath[]> {
  const tracked = new TrackedPaths();
  for (const step of yield* netSteps(steps)) {
    yield* tracked.follow(step);
    yield;
  }
  return yield* tracked.changes();
}

/** Paths that are described in one step. */
const atOnce = 512;

/** The paths that the steps of a call named, before the call and now. */
class TrackedPaths {
  readonly #before = new Map<string, RecordedState["kind"]>();
  /** Lacks the paths at which nothing is. */
  readonly #held = new Map<string, Held>();
  /** The folders above all held paths, with the paths in each that are held or lead to one. */
  readonly #folders = new Map<string, Set<string>>();
  readonly #lost = new Set<string>();

  *follow(step: RecordedStep): Steps<void> {
    const { kind, path, from, unavailable } = step;
    this.#meet(path, unavailable === undefined ? step.before.state.kind : "other");
    if (unavailable !== undefined) this.#lost.add(path);
    if (kind !== "rename" || from === undefined) {
      this.#hold(path, heldAfter(step, this.#held.get(path)));
      return;
    }
    this.#meet(from, "other");
    this.#move(from, path);
    if (step.after.state.kind !== "dir" || !this.#folders.has(from)) return;
    for (const inside of yield* this.#takeBelow(from)) {
      this.#move(inside, path + inside.slice(from.length));
      yield;
    }
  }

  /** Returns the held paths below a folder, and forgets the folders that contain them. */
  *#takeBelow(folder: string): Steps<string[]> {
    const held: string[] = [];
    const folders = [folder];
    for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
      for (const path of this.#folders.get(next)!) {
        if (this.#held.has(path)) held.push(path);
        if (this.#folders.has(path)) folders.push(path);
        yield;
      }
      this.#folders.delete(next);
    }
    return held;
  }

  *changes(): Steps<ChangedPath[]> {
    const movedAway = new Set<string>();
    let described = 0;
    for (const [path, { origin }] of this.#held) {
      if (origin !== undefined && origin !== path) movedAway.add(origin);
      if (++described % atOnce === 0) yield;
    }
    const changes: ChangedPath[] = [];
    for (const [path, kind] of this.#before) {
      if (++described % atOnce === 0) yield;
      const now = this.#held.get(path);
      const change = changeOf(path, { wasThere: kind !== "absent" && !movedAway.has(path), now });
      const isLost = this.#lost.has(path);
      if (change === undefined && !isLost) continue;
      changes.push({
        path,
        ...(change === "moved" && { from: now!.origin! }),
        change: change ?? "modified",
        ...(isLost && { unavailable: true }),
      });
    }
    return changes;
  }

  /** Tracks a path, at which there was an entry of this kind just before the step that names it first. */
  #meet(path: string, kind: RecordedState["kind"]): void {
    if (this.#before.has(path)) return;
    const origin = this.#originOf(path);
    if (kind === "absent" || origin === path) this.#before.set(path, kind);
    else {
      this.#before.set(path, "absent");
      if (origin !== undefined) this.#before.set(origin, kind);
    }
    this.#hold(path, kind === "absent" ? undefined : { origin });
  }

  #hold(path: string, held: Held | undefined): void {
    if (held === undefined) {
      this.#held.delete(path);
      return;
    }
    this.#held.set(path, held);
    let inner = path;
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const folder = path.slice(0, slash);
      const known = this.#folders.get(folder);
      if (known !== undefined) {
        known.add(inner);
        return;
      }
      this.#folders.set(folder, new Set([inner]));
      inner = folder;
    }
  }

  /** Returns the path before the call of what a path has that no step has named; `undefined` if it is new. */
  #originOf(path: string): string | undefined {
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const folder = this.#held.get(path.slice(0, slash));
      if (folder !== undefined) return folder.origin && folder.origin + path.slice(slash);
    }
    return path;
  }

  #move(from: string, path: string): void {
    if (!this.#before.has(path)) this.#before.set(path, "absent");
    if (this.#lost.delete(from)) this.#lost.add(path);
    this.#hold(path, this.#held.get(from));
    this.#hold(from, undefined);
  }
}

/** Returns what has a path after a step that moves nothing. */
function heldAfter({ kind, after, unavailable }: RecordedStep, now: Held | undefined): Held | undefined {
  if (kind === "remove" || (unavailable === undefined && after.state.kind === "absent")) return undefined;
  if (now === undefined) return { origin: undefined };
  return { ...now, change: kind === "chmod" ? (now.change ?? "mode") : "modified" };
}

function changeOf(
  path: string,
  { wasThere, now }: { readonly wasThere: boolean; readonly now: Held | undefined },
): PathChange | undefined {
  if (now === undefined) return wasThere ? "deleted" : undefined;
  if (now.origin === undefined) return wasThere ? "modified" : "created";
  return now.origin === path ? now.change : "moved";
}
