import { type BigIntStats, lstatSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Snapshot } from "../harness/tree.ts";
import { isForbidden, outsideName, secrets } from "./escape-case.ts";

/**
 * Returns the inode, mode, size and time stamp of everything below `root` but outside its `base`, by host
 * path. A file that was created and removed again shows in the stamp of its folder.
 */
export function stampsOutside(root: string): ReadonlyMap<string, string> {
  const stamps = new Map<string, string>();
  const base = join(root, "base");
  const visit = (path: Buffer): void => {
    if (path.toString() === base) return;
    const stats = lstatSync(path, { bigint: true });
    stamps.set(path.toString("latin1"), stampOf(stats));
    if (!stats.isDirectory()) return;
    for (const name of readdirSync(path, "buffer")) visit(Buffer.concat([path, Buffer.from("/"), name]));
  };
  visit(Buffer.from(root));
  return stamps;
}

const stampOf = ({ ino, mode, size, mtimeNs }: BigIntStats): string => `${ino} ${mode} ${size} ${mtimeNs}`;

/** Returns the keys of the entries that differ between two snapshots. */
export function changedKeys(before: Snapshot, after: Snapshot): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => JSON.stringify(before.get(key)) !== JSON.stringify(after.get(key)),
  );
}

/** Returns whether a text shows, or a call changed, anything forbidden. */
export const reachedForbidden = (text: string, changed: readonly string[]): boolean =>
  leaksIn(text, "").length > 0 || changed.some(isForbidden);

/**
 * Returns the words of an answer that must not be there: contents and names of forbidden files, names of
 * temporary files, and the place of the base on this machine. Words that the caller sent may come back.
 * `root` is the folder that holds the base.
 */
export function leaksIn(answer: string, sent: string, root?: string): string[] {
  const places = root === undefined ? [] : [root, `${tmpdir()}/`, "/proc", "fd/"];
  return [...secrets, outsideName, ".coder-tmp-", ...places].filter(
    (word) => answer.includes(word) && !sent.includes(word),
  );
}
