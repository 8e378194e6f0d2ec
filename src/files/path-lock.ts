import { refusalOfErrno } from "../jail/errno.ts";
import type { AdmitOptions, Jail, ProtectedChange, ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import type { FilesContext } from "./types.ts";

/** A path of a call that writes, and the options for admitting it. */
export interface WriteTarget extends AdmitOptions {
  readonly path: string;
  /**
   * The kind of change; `undefined` for a path that is only read, but after earlier calls have changed it.
   */
  readonly changes?: ProtectedChange;
}

/**
 * Admits a path and runs `work` on the place when all earlier calls on it are done. Throws like `Jail.admit`
 * and `work`, system errors as refusals.
 */
export const withPathLock = <T>(
  ctx: LockingContext,
  target: WriteTarget,
  deadline: Deadline,
  work: (place: ResolvedPath) => Promise<T>,
): Promise<T> => withPathLocks(ctx, [target], deadline, ([place]) => work(place));

type LockingContext = Pick<FilesContext, "jail" | "locks">;

/**
 * Like `withPathLock`, but for several paths at once. The first one is named in the refusal of a system
 * error.
 */
export async function withPathLocks<T, const Targets extends readonly [WriteTarget, ...WriteTarget[]]>(
  { jail, locks }: LockingContext,
  targets: Targets,
  deadline: Deadline,
  work: (places: PlacesOf<Targets>) => Promise<T>,
): Promise<T> {
  for (;;) {
    const begun = await beginNow();
    if ("value" in begun) return begun.value;
    const { keys } = begun;
    const turn = await locks.run(keys, deadline, async () => {
      using admitted = admitAll(jail, targets);
      return hasKeys(admitted, keys)
        ? { value: await refusingAll(targets[0].path, work(admitted.places)) }
        : undefined;
    });
    if (turn !== undefined) return turn.value;
    // During the wait, a path came to lead elsewhere, where others may be queued.
  }

  /** Does the work if no other call is in the queue, so that the paths need no second walk. */
  async function beginNow(): Promise<{ value: T } | { keys: readonly string[] }> {
    using admitted = admitAll(jail, targets);
    const { keys, places } = admitted;
    if (!locks.isFree(keys)) return { keys };
    return { value: await locks.run(keys, deadline, () => refusingAll(targets[0].path, work(places))) };
  }
}

/** A place for each path. */
type PlacesOf<Targets extends readonly WriteTarget[]> = { readonly [Index in keyof Targets]: ResolvedPath };

interface Admitted<Targets extends readonly WriteTarget[]> extends Disposable {
  readonly places: PlacesOf<Targets>;
  readonly keys: readonly string[];
}

function admitAll<Targets extends readonly WriteTarget[]>(jail: Jail, targets: Targets): Admitted<Targets> {
  const places: ResolvedPath[] = [];
  const close = () => {
    for (const place of places) place[Symbol.dispose]();
  };
  try {
    for (const { path, ...options } of targets) places.push(jail.admit(path, options));
  } catch (error) {
    close();
    throw error;
  }
  return {
    places: places as unknown as PlacesOf<Targets>,
    keys: places.map(jail.fold),
    [Symbol.dispose]: close,
  };
}

const hasKeys = ({ keys }: { readonly keys: readonly string[] }, wanted: readonly string[]): boolean =>
  keys.every((key, index) => key === wanted[index]);

async function refusingAll<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}
