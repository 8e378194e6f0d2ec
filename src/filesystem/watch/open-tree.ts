import { readFileSync } from "node:fs";
import type { Folder } from "../jail/folder.ts";
import { fileSystemType } from "../jail/pseudo.ts";
import { supportsOpenat2 } from "../jail/selftest.ts";
import { Inotify } from "./inotify.ts";
import { InotifyTree } from "./inotify-tree.ts";
import { MountTable } from "./mount-table.ts";
import type { TreeListener, WatchedTree } from "./watched-tree.ts";

/**
 * The reason why no tree can be watched: the runtime or the system lacks inotify(7) or openat2(2), or the
 * jail uses a different backend ("unsupported"); the events of the file system are not known to be complete
 * ("filesystem"); the user has too many inotify instances ("limit").
 */
export type Unwatchable = "unsupported" | "filesystem" | "limit";

/**
 * File systems (linux/magic.h) that change only through system calls on this machine, each of which queues
 * its events: ext2 to ext4, XFS, Btrfs, tmpfs, and overlay if nothing changes its layers.
 */
const watchableTypes: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]);

/**
 * Opens a tree of everything in `base`, which must stay open as long as the tree. Nothing is listed or
 * watched before `build`.
 */
export function openWatchedTree(base: Folder, listener: TreeListener): WatchedTree | Unwatchable {
  const { descriptor } = base;
  if (descriptor === undefined || !supportsOpenat2()) return "unsupported";
  const type = fileSystemType(`/proc/self/fd/${descriptor}`);
  if (!watchableTypes.has(type) || base.folding !== "exact") return "filesystem";
  const mounts = MountTable.open(base);
  if (mounts === undefined) return "unsupported";
  const inotify = Inotify.open();
  if (typeof inotify === "object")
    return new InotifyTree({
      ...{ descriptor, type, inotify, mounts, listener, maxFolders },
      maxQueuedEvents: limitOf("max_queued_events"),
    });
  mounts.close();
  return inotify ?? "unsupported";
}

/** The share of a user's watches that a tree may take. Editors and servers of the same user need the rest. */
const watchShare = 0.75;

/** Reads the limit again on each call, since sysctl(8) may change it at any time. */
const maxFolders = (): number => watchShare * limitOf("max_user_watches");

function limitOf(name: string): number {
  try {
    return Number(readFileSync(`/proc/sys/fs/inotify/${name}`, "latin1"));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
