import type { Deadline } from "../../base/scheduling/deadline.ts";
import type { Disk } from "../disk/disk.ts";
import type { AdmitOptions, Jail, ProtectedChange, ResolvedPath } from "../jail/folder.ts";

/** A path of a call that writes, and the options for admitting it. */
export interface WriteTarget extends AdmitOptions {
  readonly path: string;
  /**
   * The kind of change; `undefined` for a path that is only read, but after earlier calls have changed it.
   */
  readonly changes?: ProtectedChange;
}

/** A place for each path. They are held until disposed. */
export interface Admitted<Targets extends readonly WriteTarget[]> extends Disposable {
  readonly places: { readonly [Index in keyof Targets]: ResolvedPath };
}

/** Admits some paths at once. Throws like `Jail.admit`. */
export function admitAll<const Targets extends readonly WriteTarget[]>(
  jail: Jail,
  targets: Targets,
): Admitted<Targets> {
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
  return { places: places as unknown as Admitted<Targets>["places"], [Symbol.dispose]: close };
}

/**
 * Like `admitAll`, but waits until all earlier calls on the places are done. Later ones wait until these are
 * disposed of.
 */
export async function admitInTurn<const Targets extends readonly WriteTarget[]>(
  { jail, locks, mutations }: Pick<Disk, "jail" | "locks" | "mutations">,
  targets: Targets,
  deadline: Deadline,
): Promise<Admitted<Targets>> {
  const keysOf = ({ places }: Admitted<Targets>) => (places as readonly ResolvedPath[]).map(jail.fold);
  for (;;) {
    const first = admitAll(jail, targets);
    const keys = keysOf(first);
    // Without a queue the paths need no second walk.
    const isNow = locks.isFree(keys);
    if (!isNow) first[Symbol.dispose]();
    const turn = await locks.acquire(keys, deadline).catch((error: unknown) => {
      if (isNow) first[Symbol.dispose]();
      throw error;
    });
    const reading = mutations.catchUp();
    if (reading !== undefined) await reading;
    if (isNow) return inTurn(first, turn);
    let again: Admitted<Targets> | undefined;
    try {
      again = admitAll(jail, targets);
      if (keysOf(again).every((key, index) => key === keys[index])) return inTurn(again, turn);
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
    // During the wait, a path came to lead elsewhere, where others may be queued.
    again[Symbol.dispose]();
    turn[Symbol.dispose]();
  }
}

const inTurn = <Targets extends readonly WriteTarget[]>(
  admitted: Admitted<Targets>,
  turn: Disposable,
): Admitted<Targets> => ({
  places: admitted.places,
  [Symbol.dispose]() {
    admitted[Symbol.dispose]();
    turn[Symbol.dispose]();
  },
});
