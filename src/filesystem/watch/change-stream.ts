/** Turns events of the kernel into changes. */
import type { FolderNode } from "./folder-node.ts";
import { events } from "./inotify.ts";
import type { TreeChange } from "./watched-tree.ts";

/** An event for an entry of a watched folder. */
interface NamedEvent {
  readonly folder: FolderNode;
  /** The name of the entry, one character per byte. */
  readonly name: string;
  readonly mask: number;
  readonly cookie: number;
}

type MoreOfChange = Pick<TreeChange, "from" | "isMovedIn" | "isMovedOut" | "isOnlyClosed">;

export class ChangeStream {
  readonly #onChange: (change: TreeChange) => void;
  /** The first halves of moves, keyed by their cookies. */
  readonly #departed = new Map<number, NamedEvent>();
  /** The current paths of folders moved since the tree was last brought up to date. */
  readonly #moved = new Map<FolderNode, string>();
  #last: TreeChange | undefined;

  constructor(onChange: (change: TreeChange) => void) {
    this.#onChange = onChange;
  }

  add(event: NamedEvent): void {
    const { mask, cookie } = event;
    if ((mask & (events.create | events.movedTo)) !== 0) this.#free(event);
    if ((mask & events.movedFrom) !== 0) this.#departed.set(cookie, event);
    else if ((mask & events.movedTo) !== 0) this.#arrive(event);
    else if ((mask & events.create) !== 0) this.#report("created", event);
    else if ((mask & events.delete) !== 0) this.#report("removed", event);
    else if ((mask & events.attrib) !== 0) this.#report("attributes", event);
    else if ((mask & events.modify) !== 0) this.#report("modified", event);
    else this.#report("modified", event, { isOnlyClosed: true });
  }

  /** Reports a move out of the tree before another entry takes its name. */
  #free({ folder, name, cookie }: NamedEvent): void {
    for (const [other, event] of this.#departed) {
      if (other === cookie || event.folder !== folder || event.name !== name) continue;
      this.#departed.delete(other);
      this.#report("removed", event, { isMovedOut: true });
    }
  }

  /**
   * Called when the queue is empty. A move whose second half has not arrived went out of the tree; if it does
   * arrive, it counts as a new entry.
   */
  flush(): void {
    for (const event of this.#departed.values()) this.#report("removed", event, { isMovedOut: true });
    this.#departed.clear();
    this.#last = undefined;
  }

  /** Called when the tree has been brought up to date. */
  forgetMoves(): void {
    this.#moved.clear();
  }

  #arrive(event: NamedEvent): void {
    const departed = this.#departed.get(event.cookie);
    if (departed === undefined) {
      this.#report("created", event, { isMovedIn: true });
      return;
    }
    this.#departed.delete(event.cookie);
    const from = this.#pathOf(departed);
    this.#report("moved", event, { from: Buffer.from(from, "latin1") });
    const child = departed.folder.entryOf(`${departed.name}/`);
    if (typeof child === "object") this.#moved.set(child, this.#pathOf(event));
  }

  #report(kind: TreeChange["kind"], event: NamedEvent, more: MoreOfChange = {}): void {
    const path = Buffer.from(this.#pathOf(event), "latin1");
    // A write and the close after it are two events.
    const isSame = this.#last?.kind === kind && this.#last.path.equals(path) && kind !== "moved";
    if (isSame && (more.isOnlyClosed || this.#last?.isOnlyClosed !== true)) return;
    const isFolder = (event.mask & events.isFolder) !== 0;
    this.#last = { kind, isFolder, path, ...more };
    this.#onChange(this.#last);
  }

  #pathOf({ folder, name }: NamedEvent): string {
    const path = this.#folderPath(folder);
    return path === "" ? name : `${path}/${name}`;
  }

  #folderPath(folder: FolderNode): string {
    const moved = this.#moved.get(folder);
    if (moved !== undefined || folder.parent === undefined) return moved ?? folder.path;
    const above = this.#folderPath(folder.parent);
    return above === "" ? folder.name : `${above}/${folder.name}`;
  }
}
