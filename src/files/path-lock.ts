import { refusalOfErrno } from "../jail/errno.ts";
import type { AdmitOptions, ProtectedChange, ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import type { FilesContext } from "./types.ts";

/** The path of a call that writes, and how it is admitted. */
export interface WriteTarget extends AdmitOptions {
  readonly path: string;
  readonly changes: ProtectedChange;
}

/**
 * Admits a path and runs `work` on the place when all earlier calls that lead to it are done. Throws as `Jail.admit`
 * and `work` do, system errors as refusals.
 */
export async function withPathLock<T>(
  { jail, locks: queue }: FilesContext,
  { path, ...options }: WriteTarget,
  deadline: Deadline,
  work: (place: ResolvedPath) => Promise<T>,
): Promise<T> {
  for (;;) {
    const begun = await beginNow();
    if ("value" in begun) return begun.value;
    const { key } = begun;
    const turn = await queue.run(key, deadline, async () => {
      using place = jail.admit(path, options);
      return jail.fold(place) === key ? { value: await refusingAll(path, work(place)) } : undefined;
    });
    if (turn !== undefined) return turn.value;
    // While it waited the path came to lead elsewhere, where others may be in line.
  }

  /** Does the work when nobody is in line. The path need not be walked again then. */
  async function beginNow(): Promise<{ value: T } | { key: string }> {
    using place = jail.admit(path, options);
    const key = jail.fold(place);
    if (!queue.isFree(key)) return { key };
    return { value: await queue.run(key, deadline, () => refusingAll(path, work(place))) };
  }
}

async function refusingAll<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}
