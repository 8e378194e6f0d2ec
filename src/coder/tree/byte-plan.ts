/**
 * Chooses what a tree with `max_bytes` shows. Each level of folders in turn gets half of the remaining bytes,
 * which its folders share evenly, so every level is shown in part before any is complete. Rounds over all
 * levels spend the rest.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Entry } from "../../filesystem/files/types.ts";
import { pathIn } from "../../filesystem/jail/backend.ts";
import type { Folder, Name } from "../../filesystem/jail/folder.ts";
import { renderEntry, renderName } from "../render/entry-text.ts";
import {
  cutBefore,
  isDue,
  type Level,
  listOrNothing,
  type TreeSnapshot,
  tryOpen,
  yieldNow,
} from "./snapshot.ts";

/** A shown folder that may be opened. */
interface FoundFolder {
  readonly path: string;
  /** The names that lead to it from the root of the tree. */
  readonly names: readonly Name[];
  /** The level of the folder that holds it; `undefined` for the root, which has its own. */
  readonly above: Level | undefined;
}

/** A folder whose entries are known. */
interface ListedFolder {
  readonly path: string;
  /** Bytes of each entry's line, those of folders first, up to more than the tree may have. */
  readonly lines: readonly number[];
  /** The folders among the entries that may be opened, by the index of their entry. */
  readonly inner: ReadonlyMap<number, FoundFolder>;
  /** The bytes of the line about left-out entries. */
  readonly cutBytes: number;
  readonly isCut: boolean;
  /** Entries that are shown, and the bytes of their lines. */
  shown: number;
  bytes: number;
  /** The bytes of the other lines. */
  needed: number;
}

interface PlannedLevel {
  readonly listed: ListedFolder[];
  /** The folders that were not opened yet, in order. */
  readonly pending: FoundFolder[];
}

/** Shown entries that are chosen in one step. */
const entriesPerStep = 256;

/** The bytes that an opened folder gets before the next one of its level is opened. */
const minBytes = 200;

/** Bytes of the mark of a folder that is not opened, and those that the longest mark has more. */
const markBytes = Buffer.byteLength(" …");
const maxMarkBytes = Buffer.byteLength(" [unreadable]") - markBytes;

export class BytePlan {
  readonly maxBytes: number;
  readonly #snapshot: TreeSnapshot;
  readonly #root: Folder;
  readonly #levels: PlannedLevel[] = [];
  #left: number;
  /** The bytes of the shown lines in each opened folder. */
  readonly #bytes = new Map<string, number>();

  constructor(snapshot: TreeSnapshot, root: Folder, maxBytes: number) {
    this.#snapshot = snapshot;
    this.#root = root;
    this.maxBytes = maxBytes;
    const name = root.names.at(-1) ?? snapshot.context.jail.baseName;
    this.#left = maxBytes - Buffer.byteLength(`${renderName(name)}/\n`);
  }

  /**
   * Makes the plan, before anything is written. `level` is that of the root. Throws what the listing of the
   * root throws.
   */
  async make(level: Level): Promise<void> {
    if (cutBefore(this.#snapshot, level.depth) !== undefined) return;
    const found = { path: this.#root.path, names: [], above: undefined };
    const root = await this.#list(found, this.#root, level);
    if (root === undefined || !this.#pay(root, this.#left)) return;
    this.#levels.push({ listed: [root], pending: [] });
    while (await this.#spend(2));
    while (await this.#spend(1));
    for (const { listed } of this.#levels)
      for (const { path, shown, lines, bytes } of listed) {
        if (isDue(this.#snapshot)) await yieldNow(this.#snapshot);
        if (shown > 0 || lines.length === 0) this.#bytes.set(path, bytes);
      }
  }

  /** Returns whether the folder at `path` is opened. */
  admits(path: string): boolean {
    return this.#bytes.has(path);
  }

  /**
   * Returns the entries of a folder that are shown. Never more bytes than planned, whatever has changed
   * since.
   */
  *take(folder: Folder, { depth }: Level, entries: readonly Entry[]): Steps<readonly Entry[]> {
    let left = this.#bytes.get(folder.path) ?? 0;
    this.#bytes.delete(folder.path);
    const shown = new Set<Entry>();
    for (const entry of foldersFirst(entries)) {
      left -= this.#lineBytes(folder, entry, depth + 1);
      if (left < 0) break;
      shown.add(entry);
      if (shown.size % entriesPerStep === 0) yield;
    }
    return shown.size === entries.length ? entries : entries.filter((entry) => shown.has(entry));
  }

  /**
   * Spends one of `parts` of the bytes that are left on each level. Returns whether anything more is shown.
   */
  async #spend(parts: number): Promise<boolean> {
    const before = this.#left;
    for (let depth = 0; depth < this.#levels.length; depth++) {
      const share = Math.floor(this.#left / parts);
      await this.#openSome(this.#levels[depth]!, depth, share);
      await this.#extend(depth, share);
    }
    return this.#left < before;
  }

  /** Opens folders in order, as many as the share has room for. */
  async #openSome({ listed, pending }: PlannedLevel, depth: number, share: number): Promise<void> {
    let claimed = listed.reduce((sum, folder) => sum + Math.min(minBytes, folder.needed), 0);
    while (claimed < share && this.#left > maxMarkBytes && pending.length > 0) {
      if (isDue(this.#snapshot)) await yieldNow(this.#snapshot);
      const found = pending.shift()!;
      using folder = this.#open(found);
      const level = folder && { depth, rules: this.#snapshot.filter.rulesIn(folder, found.above!.rules) };
      const opened = level && (await this.#list(found, folder, level));
      if (opened === undefined) {
        // The writer fails to open it too, and marks it.
        this.#bytes.set(found.path, 0);
        this.#left -= maxMarkBytes;
      } else if (this.#pay(opened, share - claimed)) {
        listed.push(opened);
        claimed += opened.cutBytes + Math.min(minBytes, opened.needed);
      } else {
        pending.unshift(found);
        break;
      }
    }
  }

  /**
   * Reserves the line that says what a folder leaves out. Returns whether there is room for that and for one
   * entry.
   */
  #pay({ lines: [first = 0], isCut, cutBytes }: ListedFolder, room: number): boolean {
    const bytes = first > 0 || isCut ? cutBytes : 0;
    if (bytes + first > room) return false;
    this.#left -= bytes;
    return true;
  }

  /** Divides the share evenly among the folders of a level that have more to show. */
  async #extend(depth: number, share: number): Promise<void> {
    const needy = this.#levels[depth]!.listed.filter((folder) => folder.shown < folder.lines.length);
    needy.sort((one, other) => one.needed - other.needed);
    let left = Math.min(share, this.#left);
    for (const [index, folder] of needy.entries()) {
      if (isDue(this.#snapshot)) await yieldNow(this.#snapshot);
      const part = Math.floor(left / (needy.length - index));
      left -= this.#grant(folder, depth, part);
    }
  }

  /** Shows as many more entries of a folder as `part` bytes hold. Returns their bytes. */
  #grant(folder: ListedFolder, depth: number, part: number): number {
    let granted = 0;
    for (; folder.shown < folder.lines.length; folder.shown++) {
      const line = folder.lines[folder.shown]!;
      if (granted + line > part) break;
      granted += line;
      const inner = folder.inner.get(folder.shown);
      if (inner !== undefined) this.#levelAt(depth + 1).pending.push(inner);
    }
    folder.bytes += granted;
    folder.needed -= granted;
    this.#left -= granted;
    if (granted > 0 && folder.shown === folder.lines.length && !folder.isCut) this.#left += folder.cutBytes;
    return granted;
  }

  #levelAt(depth: number): PlannedLevel {
    this.#levels[depth] ??= { listed: [], pending: [] };
    return this.#levels[depth];
  }

  #open({ names }: FoundFolder): Folder | undefined {
    let folder: Folder | undefined = this.#root;
    for (const name of names) {
      const inner: Folder | undefined = tryOpen(folder, name);
      if (folder !== this.#root) folder.close();
      if (inner === undefined) return undefined;
      folder = inner;
    }
    return folder;
  }

  async #list(found: FoundFolder, folder: Folder, level: Level): Promise<ListedFolder | undefined> {
    const page = await listOrNothing(this.#snapshot, folder, level);
    if (page === undefined) return undefined;
    const { entries, total } = page;
    const inner = new Map<number, FoundFolder>();
    const mayOpen = cutBefore(this.#snapshot, level.depth + 1) === undefined;
    const lines: number[] = [];
    let needed = 0;
    for (const entry of foldersFirst(entries)) {
      // More lines would never be shown.
      if (needed > this.maxBytes) break;
      if (isDue(this.#snapshot)) await yieldNow(this.#snapshot);
      if (mayOpen && this.#isOpenable(folder, entry)) {
        inner.set(lines.length, {
          path: pathIn(found.path, entry.name),
          names: [...found.names, entry.raw],
          above: level,
        });
      }
      const bytes = this.#lineBytes(folder, entry, level.depth + 1);
      lines.push(bytes);
      needed += bytes;
    }
    const cutBytes = 2 * (level.depth + 1) + Buffer.byteLength(`… ${total} of ${total}\n`);
    const isCut = total > entries.length;
    return { path: found.path, lines, inner, cutBytes, isCut, shown: 0, bytes: 0, needed };
  }

  #isOpenable(folder: Folder, entry: Entry): boolean {
    const { context, filter } = this.#snapshot;
    return (
      entry.kind === "dir" &&
      !context.jail.deniesIn(folder, entry.name) &&
      !filter.excludesFolder(folder, entry.name)
    );
  }

  #lineBytes(folder: Folder, { name, kind }: Entry, depth: number): number {
    const { context, filter } = this.#snapshot;
    const non_accessible = context.jail.deniesIn(folder, name);
    const text = renderEntry({ name, kind, non_accessible });
    const mark = kind === "dir" && filter.excludesFolder(folder, name) ? excludedBytes : markBytes;
    return 2 * depth + Buffer.byteLength(text) + (kind === "dir" ? mark : 0) + 1;
  }
}

const excludedBytes = Buffer.byteLength(" [excluded]");

/**
 * Returns the entries with folders first, since the entries below a folder can only be shown with it.
 */
const foldersFirst = (entries: readonly Entry[]): readonly Entry[] => [
  ...entries.filter(({ kind }) => kind === "dir"),
  ...entries.filter(({ kind }) => kind !== "dir"),
];
