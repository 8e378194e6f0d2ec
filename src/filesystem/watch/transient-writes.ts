import type { Steps } from "../../base/scheduling/time-slice.ts";
import { ChangedNames } from "./changed-names.ts";
import type { FolderNode } from "./folder-node.ts";
import { events } from "./inotify.ts";

/** An event for a name in a watched folder. */
interface NamedEvent {
  readonly folder: FolderNode;
  readonly name: string;
  readonly mask: number;
  readonly cookie: number;
}

/** Names that are checked in one step. */
const namesPerStep = 4096;

/**
 * Notices that a file was changed under a name that it no longer has. The file may still have another name
 * that raised no event: a link that was made, written to and removed between two drains.
 */
export class TransientWrites {
  /** New names of files that were changed under them. */
  #names = new ChangedNames();
  /** The cookies of names that moved away. */
  #moved = new Set<number>();
  #isLost = false;

  /**
   * Records an event. `isNew` says that since the tree was brought up to date, the name has become that of a
   * different file or folder.
   */
  add({ folder, name, mask, cookie }: NamedEvent, isNew: boolean): void {
    if ((mask & events.isFolder) !== 0) {
      // The folder was not watched, so a link made there and written to raised no event.
      if (isNew && (mask & (events.delete | events.movedFrom)) !== 0) this.#isLost = true;
      return;
    }
    if ((mask & (events.modify | events.closeWrite | events.attrib)) !== 0) {
      if (isNew) this.#names.add(folder, name);
      return;
    }
    const wasChanged = this.#names.delete(folder, name);
    if (wasChanged && (mask & events.movedFrom) !== 0) this.#moved.add(cookie);
    else if (wasChanged) this.#isLost = true;
    if ((mask & events.movedTo) !== 0 && this.#moved.delete(cookie)) this.#names.add(folder, name);
  }

  /** Records an event in a folder that has left its place, so that its names are unknown. */
  noteLost(): void {
    this.#isLost = true;
  }

  /**
   * Called when the tree reflects the events. Forgets everything, and returns whether a file was changed
   * under a name that is gone.
   */
  *settle(holds: (folder: FolderNode) => boolean): Steps<boolean> {
    const [changed, isLost] = [this.#names, this.#isLost || this.#moved.size > 0];
    // Events that come between two steps are not reflected yet.
    this.#names = new ChangedNames();
    this.#moved = new Set();
    this.#isLost = false;
    if (isLost) return true;
    let checked = 0;
    for (let next = changed.take(); next !== undefined; next = changed.take()) {
      const [folder, names] = next;
      if (!holds(folder)) return true;
      for (const name of names) {
        if (typeof folder.entryOf(name) !== "number") return true;
        if (++checked % namesPerStep === 0) yield;
      }
    }
    return false;
  }
}
