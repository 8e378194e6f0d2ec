/** Wraps a watched tree over a fixture, for tests. */

import type { Tree } from "../../../tests/harness/tree.ts";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { Inotify } from "./inotify.ts";
import { InotifyTree } from "./inotify-tree.ts";
import { MountTable } from "./mount-table.ts";
import { openWatchedTree } from "./open-tree.ts";
import type { TreeListener, WatchedFolder, WatchedTree } from "./watched-tree.ts";

/** The reports that a tree has made. */
export interface Reported {
  /** The paths of files that are dirty, or were added. */
  readonly dirty: Set<string>;
  readonly linked: bigint[];
  allDirty: number;
}

export class TreeFixture extends JailFixture {
  readonly tree: WatchedTree;
  readonly reported: Reported = { dirty: new Set(), linked: [], allDirty: 0 };
  readonly #numbers = new Set<number>();

  constructor(tree: Tree, { listener = {}, open = openWatchedTree }: TreeFixtureOptions = {}) {
    super(tree);
    const own: TreeListener = {
      onAdded: (file) => this.#numbers.add(file),
      onDirty: (file) => this.#numbers.add(file),
      onLinked: (inode) => this.reported.linked.push(inode),
      onAllDirty: () => this.reported.allDirty++,
      ...listener,
    };
    const opened = open(this.jail("openat").admitFolder("."), own);
    if (typeof opened === "string") throw new Error(`no tree: ${opened}`);
    this.tree = opened;
  }

  /** Builds the tree. Nothing is dirty after that. */
  async build(): Promise<this> {
    await this.tree.build();
    this.#numbers.clear();
    return this;
  }

  /** Drains the tree, and returns the paths of the files that became dirty since the last call. */
  async drain(): Promise<string[]> {
    await this.tree.drain();
    const files = [...this.tree.filesBelow(this.tree.base)].map((one) => [pathOf(one), one.file] as const);
    const dirty = files.filter(([, file]) => this.#numbers.has(file)).map(([path]) => path);
    this.#numbers.clear();
    return dirty;
  }

  get paths(): string[] {
    return [...this.tree.filesBelow(this.tree.base)].map(pathOf);
  }

  override [Symbol.dispose](): void {
    this.tree.close();
    super[Symbol.dispose]();
  }
}

interface TreeFixtureOptions {
  readonly listener?: TreeListener;
  readonly open?: typeof openWatchedTree;
}

function pathOf({ folder, key }: { readonly folder: WatchedFolder; readonly key: string }): string {
  return folder.parent === undefined ? key : pathOf({ folder: folder.parent, key: `${folder.name}/${key}` });
}

/** Returns the unwatched folders, each with its reason. */
export function unwatchedIn(folder: WatchedFolder, prefix = ""): string[] {
  return folder.entries.flatMap((entry) => {
    if (typeof entry !== "object") return [];
    const path = prefix + entry.name;
    return entry.unwatched === undefined ? unwatchedIn(entry, `${path}/`) : [`${path} ${entry.unwatched}`];
  });
}

interface OpenOptions {
  /** Maximum watches, and maximum folders of a tree. */
  readonly limit?: { watches?: number; folders?: number };
  readonly sliceMilliseconds?: number;
  /** Called before each folder is watched. */
  readonly onWatch?: () => void;
}

/** Opens a tree with limits and hooks of the test. */
export const openWith =
  ({ limit = {}, sliceMilliseconds = 10, onWatch = () => {} }: OpenOptions): typeof openWatchedTree =>
  (base, listener) => {
    const inotify = Inotify.open() as Inotify;
    let watches = 0;
    return new InotifyTree({
      descriptor: base.descriptor!,
      // The type of overlay, where a folder is read until a call returns nothing.
      type: 0x794c7630,
      mounts: MountTable.open(base)!,
      listener,
      maxFolders: () => limit.folders ?? Number.POSITIVE_INFINITY,
      sliceMilliseconds,
      inotify: {
        watch(folder) {
          onWatch();
          return watches++ < (limit.watches ?? Number.POSITIVE_INFINITY) ? inotify.watch(folder) : "limit";
        },
        unwatch: (watch) => inotify.unwatch(watch),
        read: (onEvent) => inotify.read(onEvent),
        close: () => inotify.close(),
      },
    });
  };
