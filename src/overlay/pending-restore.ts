/** The verbs of a pending tree that restore an earlier state, for an undo alone. */

import { requireMovable, requireWritableEnds } from "../changes/move.ts";
import { requireRemovable } from "../changes/remove.ts";
import { requireWritableFolder } from "../changes/require-writable-folder.ts";
import { relationOf } from "../changes/same-entry.ts";
import type { Requester } from "../disk/mutation.ts";
import { refuse } from "../errors.ts";
import { mapErrno, refusalOfErrno } from "../jail/errno.ts";
import type { Folder } from "../jail/folder.ts";
import { newFolder, type PendingPlace } from "./pending-changes.ts";
import { keptOf } from "./pending-content.ts";
import { admitPending, type EntryState, type PendingContext } from "./pending-context.ts";
import type { PendingFolder } from "./pending-folder.ts";
import { moveAdmitted } from "./pending-places.ts";

interface Restoring {
  readonly pending: PendingContext;
  readonly requester: Requester;
  state(path: string): EntryState;
  changeMode(path: string, options: { readonly mode: number }): Promise<number>;
}

/**
 * Changes a pending tree by the paths of entries themselves: a link is never followed as the last name,
 * wherever it leads, and a file is replaced even if it is not writable. The commit fails if a replaced or
 * removed file differs from the state that was read.
 */
export class PendingRestore {
  readonly #restoring: Restoring;
  /** The revisions of the files whose states were read. */
  readonly #revisions = new Map<string, string>();

  constructor(restoring: Restoring) {
    this.#restoring = restoring;
  }

  /** Returns the state of a path. Throws the jail's refusals, and io for a file that cannot be read. */
  state(path: string): Exclude<EntryState, { kind: "file" }> | (EntryState & FileState) {
    const state = this.#restoring.state(path);
    if (state.kind !== "file") return state;
    const { revision = "" } = state;
    this.#revisions.set(path, revision);
    return { ...state, revision };
  }

  isRespelling(path: string, other: string): boolean {
    const { pending } = this.#restoring;
    return mapErrno(path, () => {
      const asName = { lastLink: "bare", mayBeMissing: true, parents: true } as const;
      using source = admitPending(pending, { path, ...asName });
      using target = admitPending(pending, { path: other, ...asName });
      return source.stats !== undefined && relationOf({ source, target }) === "respelled";
    });
  }

  putFile(path: string, content: Buffer, mode: number): Promise<void> {
    return this.#at(path, (place) => {
      const { changes } = this.#restoring.pending;
      const { stats } = place;
      const size = content.length;
      if (stats === undefined)
        changes.place(place, { type: "file", staged: { kind: "file", content: [content], mode }, size });
      else {
        const kept = stats.isFile() ? keptOf(place, { uid: stats.uid, gid: stats.gid }) : {};
        changes.rewrite(place, { content: [content], mode, ...kept }, { size, revision: this.#seen(path) });
      }
    });
  }

  putLink(path: string, text: Buffer): Promise<void> {
    return this.#at(path, (place) => {
      const { changes } = this.#restoring.pending;
      const link = { type: "symlink", staged: { kind: "symlink", text } } as const;
      if (place.stats === undefined) changes.place(place, link);
      else changes.exchange(place, link, { revision: this.#seen(path) });
    });
  }

  makeFolder(path: string, mode: number): Promise<void> {
    return this.#at(path, (place) => {
      if (place.stats !== undefined) throw refuse.exists(path);
      this.#restoring.pending.changes.place(place, newFolder(mode));
    });
  }

  async remove(path: string): Promise<void> {
    const { pending, requester } = this.#restoring;
    await refusing(path, async () => {
      using place = admitPending(pending, { path, changes: "tree", lastLink: "bare" });
      const holdsMount = (folder: Folder) => (folder as PendingFolder).holdsMount();
      await requireRemovable(pending.jail, { path, recursive: false }, { place, requester, holdsMount });
      pending.changes.remove(place, place.stats!.isFile() ? this.#seen(path) : undefined);
    });
  }

  async move(from: string, to: string): Promise<void> {
    const { pending, requester } = this.#restoring;
    const moving = { from, to, overwrite: false, parents: false };
    await refusing(from, async () => {
      using source = admitPending(pending, { path: from, changes: "tree", lastLink: "bare" });
      using target = admitPending(pending, {
        path: to,
        changes: "tree",
        lastLink: "bare",
        mayBeMissing: true,
        mayBeFolder: true,
      });
      const relation = await requireMovable(pending, moving, { source, target, requester });
      if (target.stats !== undefined && relation !== "respelled") throw refuse.exists(to);
      requireWritableEnds(moving, { source, target });
      moveAdmitted(pending, moving, { source, target, relation });
    });
  }

  async setMode(path: string, mode: number): Promise<void> {
    await this.#restoring.changeMode(path, { mode });
  }

  /** Makes a change at a path that is not a folder. */
  async #at(path: string, change: (place: PendingPlace) => void): Promise<void> {
    const { pending } = this.#restoring;
    mapErrno(path, () => {
      using place = admitPending(pending, { path, changes: "entry", lastLink: "bare", mayBeMissing: true });
      if (place.stats?.isDirectory()) throw refuse.isAFolder(path);
      requireWritableFolder(place.folder, path);
      change(place);
    });
  }

  #seen(path: string): string | undefined {
    return this.#revisions.get(path) || undefined;
  }
}

interface FileState {
  readonly kind: "file";
  readonly revision: string;
}

async function refusing(path: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw refusalOfErrno(error, path);
  }
}
