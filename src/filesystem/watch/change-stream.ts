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
  /** Their cookies, by the folders and names that they left. */
  readonly #cookies = new Map<FolderNode, Map<string, number>>();
  /** The current paths of folders moved since the tree was last brought up to date. */
  readonly #moved = new Map<FolderNode, string>();
  /** The paths of folders, until one moves. */
  readonly #paths = new Map<FolderNode, string>();
  #last: TreeChange | undefined;
  /** The event of the last change, if its path is still the same. */
  #lastEvent: NamedEvent | undefined;

  constructor(onChange: (change: TreeChange) => void) {
    this.#onChange = onChange;
  }

  add(event: NamedEvent): void {
    const { mask } = event;
    if ((mask & (events.create | events.movedTo)) !== 0) this.#free(event);
    if ((mask & events.movedFrom) !== 0) this.#depart(event);
    else if ((mask & events.movedTo) !== 0) this.#arrive(event);
    else if ((mask & events.create) !== 0) this.#report("created", event);
    else if ((mask & events.delete) !== 0) this.#report("removed", event);
    else if ((mask & events.attrib) !== 0) this.#report("attributes", event);
    else if ((mask & events.modify) !== 0) this.#report("modified", event);
    else this.#report("modified", event, { isOnlyClosed: true });
  }

  /** Reports a move out of the tree before another entry takes its name. */
  #free({ folder, name, cookie }: NamedEvent): void {
    const other = this.#cookies.get(folder)?.get(name);
    if (other === undefined || other === cookie) return;
    const event = this.#departed.get(other)!;
    this.#forget(event);
    this.#report("removed", event, { isMovedOut: true });
  }

  #depart(event: NamedEvent): void {
    const { folder, name, cookie } = event;
    this.#departed.set(cookie, event);
    const cookies = this.#cookies.get(folder);
    if (cookies === undefined) this.#cookies.set(folder, new Map([[name, cookie]]));
    else cookies.set(name, cookie);
  }

  /** Forgets the first half of a move. */
  #forget({ folder, name, cookie }: NamedEvent): void {
    this.#departed.delete(cookie);
    const cookies = this.#cookies.get(folder);
    if (cookies?.get(name) === cookie) cookies.delete(name);
  }

  /**
   * Called when the queue is empty. A move whose second half has not arrived went out of the tree; if it does
   * arrive, it counts as a new entry.
   */
  flush(): void {
    for (const event of this.#departed.values()) this.#report("removed", event, { isMovedOut: true });
    this.#departed.clear();
    this.#cookies.clear();
    this.#last = undefined;
  }

  /** Called when the tree has been brought up to date. */
  forgetMoves(): void {
    this.#moved.clear();
    this.#forgetPaths();
  }

  #forgetPaths(): void {
    this.#paths.clear();
    this.#lastEvent = undefined;
  }

  #arrive(event: NamedEvent): void {
    const departed = this.#departed.get(event.cookie);
    if (departed === undefined) {
      this.#report("created", event, { isMovedIn: true });
      return;
    }
    this.#forget(departed);
    const from = this.#pathOf(departed);
    this.#report("moved", event, { from: Buffer.from(from, "latin1") });
    const child = departed.folder.entryOf(`${departed.name}/`);
    if (typeof child !== "object") return;
    this.#moved.set(child, this.#pathOf(event));
    // The folders of both names are not in it, and often those of the next move too.
    const kept = [departed.folder, event.folder].map((folder) => [folder, this.#paths.get(folder)] as const);
    this.#forgetPaths();
    for (const [folder, path] of kept) if (path !== undefined) this.#paths.set(folder, path);
  }

  #report(kind: TreeChange["kind"], event: NamedEvent, more: MoreOfChange = {}): void {
    const path = this.#bytesOf(event);
    // A write and the close after it are two events.
    const isSame = this.#last?.kind === kind && this.#last.path.equals(path) && kind !== "moved";
    if (isSame && (more.isOnlyClosed || this.#last?.isOnlyClosed !== true)) return;
    const isFolder = (event.mask & events.isFolder) !== 0;
    this.#last = { kind, isFolder, path, ...more };
    this.#onChange(this.#last);
  }

  /** Returns the path of an entry, and often the object that the last change has. */
  #bytesOf(event: NamedEvent): Buffer {
    const last = this.#lastEvent;
    this.#lastEvent = event;
    const isLast = last !== undefined && last.folder === event.folder && last.name === event.name;
    return isLast && this.#last !== undefined ? this.#last.path : Buffer.from(this.#pathOf(event), "latin1");
  }

  #pathOf({ folder, name }: NamedEvent): string {
    const path = this.#folderPath(folder);
    return path === "" ? name : `${path}/${name}`;
  }

  #folderPath(folder: FolderNode): string {
    const known = this.#moved.get(folder) ?? this.#paths.get(folder);
    if (known !== undefined || folder.parent === undefined) return known ?? folder.path;
    const above = this.#folderPath(folder.parent);
    const path = above === "" ? folder.name : `${above}/${folder.name}`;
    this.#paths.set(folder, path);
    return path;
  }
}
