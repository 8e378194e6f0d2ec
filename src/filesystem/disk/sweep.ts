/** Removes temporary files and folders of processes that were killed before these got their names. */
import { lstatSync } from "node:fs";
import { Refusal } from "../../base/errors.ts";
import { createBackgroundSlice } from "../../base/scheduling/time-slice.ts";
import { type TreeVisitor, walkTree } from "../files/tree-walk.ts";
import type { Entry } from "../files/types.ts";
import { pathIn } from "../jail/backend.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder } from "../jail/folder.ts";
import { isGone, isTemporaryIn, makerOf } from "../jail/temporary.ts";
import type { Disk } from "./disk.ts";
import { removeHiddenFolder } from "./hidden-folder.ts";
import { changeTree, type MutationScope } from "./scope.ts";
import { sweepEntry } from "./set-aside.ts";

/**
 * The time without a write after which a temporary file has no owner any longer. A call writes its file at
 * once or piece by piece, and lasts an hour at most. This also covers makers in another container or on
 * another host, which no probe reaches.
 */
const oldestInUseMilliseconds = 2 * 60 * 60_000;

interface Swept {
  readonly folder: Folder;
  readonly entries: readonly Entry[];
  readonly now?: number;
  /** Judges entries of transactions, which may be the only copy of a file. */
  readonly disk: Pick<Disk, "isAbandoned" | "ended">;
}

/** Maximum files that are judged, and removed, in one step. Each takes up to 60 microseconds. */
const maxAtOnce = 64;

/**
 * Removes those of the first `entries` that are temporary files and no longer in use. A later listing removes
 * the next ones, and the next start removes all. It leaves folders, which may have many entries. Returns the
 * number of removed files. Never throws.
 */
export function sweepFolder(scope: MutationScope, swept: Swept): number {
  const { folder, entries } = swept;
  return entries
    .slice(0, maxAtOnce)
    .filter((entry) => entry.kind !== "dir" && isLeftOver(swept, entry) && isRemoved(scope, folder, entry))
    .length;
}

/** Like `sweepFolder`, but with temporary folders, and everything in them. */
export async function sweepWithFolders(scope: MutationScope, swept: Swept): Promise<number> {
  const { folder, entries } = swept;
  let count = sweepFolder(scope, swept);
  for (const entry of entries)
    if (entry.kind === "dir" && isLeftOver(swept, entry) && (await isFolderRemoved(scope, folder, entry)))
      count++;
  return count;
}

function isLeftOver({ folder, now = Date.now(), disk }: Swept, { name, raw }: Entry): boolean {
  const maker = makerOf(name);
  if (maker === undefined) return false;
  try {
    const { transaction } = maker;
    if (transaction !== undefined && disk.isAbandoned?.(transaction) !== true) return false;
    const hasEnded = transaction !== undefined && disk.ended.has(transaction.id);
    const stats = folder.enter((at) => lstatSync(at(raw)));
    const isOurs = stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
    return isOurs && (hasEnded || isGone(maker) || now - stats.ctimeMs > oldestInUseMilliseconds);
  } catch {
    return false;
  }
}

function isRemoved(scope: MutationScope, folder: Folder, entry: Entry): boolean {
  try {
    sweepEntry(scope, folder, entry);
    return true;
  } catch {
    return false;
  }
}

async function isFolderRemoved(scope: MutationScope, folder: Folder, entry: Entry): Promise<boolean> {
  const description = { kind: "sweep", path: pathIn(folder.path, entry.name), entry: "dir" } as const;
  try {
    await changeTree(scope, description, () => removeHiddenFolder(folder, entry.raw));
    return true;
  } catch {
    return false;
  }
}

/** Implements `Files.sweep`. Denied folders are left out, since nothing was ever written there. */
export async function sweepTree(
  disk: Pick<Disk, "jail" | "mutations" | "isAbandoned" | "ended">,
  stop?: AbortSignal,
): Promise<number> {
  const { jail } = disk;
  const scope = { mutations: disk.mutations, requester: undefined };
  let swept = 0;
  const visitor: TreeVisitor = {
    wants: ({ bytes, from, to }, kind) =>
      kind === undefined || kind === "dir" || isTemporaryIn(bytes, from, to),
    async preorder({ folder, entry }) {
      if (makerOf(entry.name) !== undefined && !jail.isReadOnly(folder.path))
        swept += await sweepWithFolders(scope, { folder, entries: [entry], disk });
      return undefined;
    },
    open({ folder, entry: { kind, name, raw } }) {
      const isEntered =
        kind === "dir" &&
        !stop?.aborted &&
        !jail.deniesIn(folder, name) &&
        !jail.isReadOnly(pathIn(folder.path, name));
      return isEntered ? folder.child(raw) : undefined;
    },
    onUnreadable(error) {
      if (!(error instanceof Refusal) && errnoOf(error) === undefined) throw error;
    },
  };
  using base = jail.reopenFolder("");
  if (!stop?.aborted) await walkTree({ slice: createBackgroundSlice(), visitor }, base);
  return swept;
}
