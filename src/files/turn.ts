import type { Deadline } from "../deadline.ts";
import { refusalOf } from "../jail/errno.ts";
import type { AdmitOptions, Place } from "../jail/folder.ts";
import type { Change } from "../jail/protected.ts";
import type { Workbench } from "./files.ts";

/** The path of a call that writes, and how it is admitted. */
export interface Errand extends AdmitOptions {
  readonly path: string;
  readonly changes: Change;
}

/**
 * Admits a path and runs `work` on the place when all earlier calls that lead to it are done. Throws as `Jail.admit`
 * and `work` do, system errors as refusals.
 */
export async function inTurn<T>(
  { jail, queue }: Workbench,
  { path, ...options }: Errand,
  deadline: Deadline,
  work: (place: Place) => Promise<T>,
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
    throw refusalOf(error, path);
  }
}
