/** Walks a tree and writes it (coder §8). */
import { Refusal } from "../../base/errors.ts";
import { beginAtOnce } from "../../base/scheduling/time-slice.ts";
import type { Entry, Page } from "../../filesystem/files/types.ts";
import type { Folder } from "../../filesystem/jail/folder.ts";
import type { FileStats } from "../../filesystem/jail/kind.ts";
import { commaBytes } from "../../text/sizes/json-budget.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import { cutByBytes, cutByWidth, cutWithin, cutWithinBytes, unreadable } from "./cuts.ts";
import { type Cut, nodeBytes } from "./node.ts";
import { NodeWriter, prefixOf, type WrittenNode } from "./node-writer.ts";
import {
  count,
  cutBefore,
  isDue,
  type Level,
  listOrNothing,
  open,
  type TreeSnapshot,
  yieldNow,
} from "./snapshot.ts";

/** A folder whose children are being written. */
interface OpenFolder {
  readonly folder: Folder;
  readonly level: Level;
  /** The node of the folder, and the prefix of its name in its path; `undefined` for the base. */
  readonly node: WrittenNode;
  readonly before: Uint8Array | undefined;
  /** The path prefix of its children. */
  readonly prefix: Uint8Array;
  /** Its children and their total number. The tree has the first `shown` of them. */
  readonly entries: readonly Entry[];
  readonly shown: number;
  readonly total: number;
  /** Whether the limit of bytes leaves out children. */
  readonly isCutByBytes: boolean;
  /** The index of the next child. */
  next: number;
}

/** The node of a folder, and the prefix of its name in its path; `undefined` for the base. */
type Itself = Pick<OpenFolder, "node" | "before">;

export class TreeWriter {
  readonly #snapshot: TreeSnapshot;
  readonly #writer = new NodeWriter();
  /** The open folders, from the root to the one whose children are being written. */
  readonly #folders: OpenFolder[] = [];

  constructor(snapshot: TreeSnapshot) {
    this.#snapshot = snapshot;
  }

  /**
   * Writes the tree below `root`, and closes `root`. Throws too-large, and the errors of listing the root.
   */
  async write(root: Folder, level: Level): Promise<NodeWriter> {
    try {
      const itself = this.#describeRoot(root);
      const { plan } = this.#snapshot;
      const byBytes = plan?.admits(root.path) === false ? cutByBytes(plan.maxBytes) : undefined;
      const cut = cutBefore(this.#snapshot, 0) ?? byBytes;
      if (cut === undefined) await this.#enter(root, level, itself);
      else this.#addCut(itself, cut);
      for (let at = this.#folders.at(-1); at !== undefined; at = this.#folders.at(-1)) {
        if (isDue(this.#snapshot)) await yieldNow(this.#snapshot);
        const entered = at.next < at.shown ? this.#add(at, at.entries[at.next++]!) : this.#leave(at);
        // Avoids a promise for most nodes.
        if (entered !== undefined) await entered;
      }
      return this.#writer;
    } finally {
      for (const { folder } of this.#folders) folder.close();
    }
  }

  #describeRoot(root: Folder): Itself {
    const { jail, files } = this.#snapshot.context;
    const entry: Entry = { name: root.names.at(-1) ?? jail.baseName, raw: ".", kind: "dir" };
    const node = nodeOf(entry, files.stat(root, entry), false);
    count(this.#snapshot, jsonBytes({ ...node, path: root.path }));
    return { node, before: root.path === "" ? undefined : prefixOf(root.names.slice(0, -1).join("/")) };
  }

  /** Writes a child, or begins it: a folder with very many entries returns a promise. */
  #add({ folder, prefix, level }: OpenFolder, entry: Entry): Promise<void> | undefined {
    const snapshot = this.#snapshot;
    const { files, jail } = snapshot.context;
    const node = nodeOf(entry, files.stat(folder, entry), jail.deniesIn(folder, entry.name));
    count(snapshot, nodeBytes(node, prefix.length));
    if (node.kind !== "dir" || node.non_accessible) {
      this.#writer.add(node, prefix);
      return undefined;
    }
    const itself = { node, before: prefix };
    const opened = open(snapshot, { folder, entry, above: level });
    if (opened.folder === undefined) {
      this.#addCut(itself, opened.cut);
      return undefined;
    }
    return this.#enter(opened.folder, this.#levelIn(opened.folder, level), itself);
  }

  /**
   * Returns the level of a folder, from the level of the folder that contains it. Closes the folder if its
   * ignore files cannot be read.
   */
  #levelIn(folder: Folder, { depth, rules }: Level): Level {
    try {
      return { depth: depth + 1, rules: this.#snapshot.filter.rulesIn(folder, rules) };
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  /** Lists a folder and makes it the one whose children are written. */
  #enter(folder: Folder, level: Level, itself: Itself): Promise<void> | undefined {
    try {
      const page = listOrNothing(this.#snapshot, folder, level);
      const begun =
        page instanceof Promise
          ? page.then((listed) => this.#begin(listed, folder, level, itself))
          : this.#begin(page, folder, level, itself);
      return begun?.finally(() => {
        if (this.#folders.at(-1)?.folder !== folder) folder.close();
      });
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  #begin(page: Page | undefined, folder: Folder, level: Level, itself: Itself): Promise<void> | undefined {
    if (page === undefined || !this.#isReachable(folder, page, level)) {
      folder.close();
      this.#addCut(itself, unreadable);
      return undefined;
    }
    const { total } = page;
    const { plan, quota, slice } = this.#snapshot;
    const push = (entries: readonly Entry[]): undefined => {
      const shown = quota?.take(level.depth + 1, entries.length) ?? entries.length;
      const isCutByBytes = entries.length < page.entries.length;
      const prefix = prefixOf(folder.path);
      this.#folders.push({
        ...{ folder, level, ...itself, prefix, entries, shown, total, isCutByBytes },
        next: 0,
      });
      this.#writer.open();
    };
    const taken = plan ? beginAtOnce(plan.take(folder, level, page.entries), slice) : page.entries;
    return taken instanceof Promise ? taken.then(push) : push(taken);
  }

  /**
   * Returns whether the entries of a folder may be read, and not only listed. Returns true for the root of
   * the tree, so that the call fails later.
   */
  #isReachable(folder: Folder, { entries: [first] }: Page, { depth }: Level): boolean {
    if (first === undefined || depth === 0) return true;
    try {
      this.#snapshot.context.files.stat(folder, first);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.reason === "permission") return false;
      throw error;
    }
  }

  #leave({ folder, node, before, entries, shown, total, isCutByBytes }: OpenFolder): undefined {
    const { budget, plan, quota } = this.#snapshot;
    this.#folders.pop();
    folder.close();
    budget.add(',"children":[]'.length + commaBytes(0, shown));
    let cut: Cut | undefined;
    if (shown < entries.length) cut = cutWithin(quota!.maxNodes, shown, total);
    else if (isCutByBytes) cut = cutWithinBytes(plan!.maxBytes, shown, total);
    else if (shown < total) cut = cutByWidth(shown, total, this.#snapshot.context);
    if (cut !== undefined) this.#countCut(cut);
    this.#writer.close(node, before, cut);
  }

  #addCut({ node, before }: Itself, cut: Cut): void {
    this.#countCut(cut);
    this.#writer.add(node, before, cut);
  }

  #countCut(cut: Cut): void {
    count(this.#snapshot, ',"truncated":'.length + jsonBytes(cut));
  }
}

/** Returns the node of an entry. An entry without stats is gone. */
const nodeOf = ({ name, kind }: Entry, stats: FileStats | undefined, non_accessible: boolean): WrittenNode =>
  stats === undefined
    ? { name, kind, mtime: 0, size: 0, non_accessible }
    : { name, kind: stats.kind, mtime: stats.mtime, size: stats.size, non_accessible };
