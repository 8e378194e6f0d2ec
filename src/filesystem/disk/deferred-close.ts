import { close, closeSync, constants, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import type { Folder, Name, ResolvedPath } from "../jail/folder.ts";

/** Maximum files that are being closed at once, since the process has few descriptors. */
const maxClosing = 8;

const closing = new Set<Promise<void>>();

/**
 * Holds a file, by a descriptor that it owns, while another may replace it. The last close(2) of a replaced
 * file takes until the disk has freed it: a tenth of a millisecond, and some milliseconds for 10 MiB that
 * were written a moment ago. So it runs in the background, and delays no call.
 */
export class DeferredClose implements Disposable {
  readonly descriptor: number;
  /** Whether another file has replaced it. */
  isReplaced = false;

  constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  [Symbol.dispose](): void {
    if (!this.isReplaced || closing.size === maxClosing) {
      closeSync(this.descriptor);
      return;
    }
    const done = closeLater(this.descriptor).finally(() => closing.delete(done));
    closing.add(done);
  }
}

/** Holds the file at `place`. Returns `undefined` if it may be written and not read. */
export function holdForDeferredClose(place: ResolvedPath): DeferredClose | undefined {
  try {
    return new DeferredClose(place.open());
  } catch {
    return undefined;
  }
}

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Holds a file that is to be removed (`closeRemoved`). Returns `undefined` if it may not be read. */
export function holdToRemove(folder: Folder, name: Name): DeferredClose | undefined {
  try {
    return new DeferredClose(folder.enter((at) => openSync(at(name), readFlags)));
  } catch {
    return undefined;
  }
}

/**
 * Closes a file that has lost its last name in the background, once few others are being closed. For many
 * files in a row: their calls can wait, and no other call does.
 */
export async function closeRemoved(held: DeferredClose): Promise<void> {
  while (closing.size === maxClosing) await Promise.race(closing);
  held.isReplaced = true;
  held[Symbol.dispose]();
}

/** Waits until the disk has freed the replaced files. Returns whether it had to free any. */
export async function awaitDeferredCloses(): Promise<boolean> {
  return (await Promise.all(closing)).length > 0;
}

const closeInBackground = promisify(close);

async function closeLater(descriptor: number): Promise<void> {
  // The place holds the file too, until its call is done.
  await setImmediate();
  await closeInBackground(descriptor).catch(() => {});
}
