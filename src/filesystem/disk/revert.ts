/**
 * Reverts steps, and removes the entries that they left under temporary names. Reverting is not reported: for
 * listeners it is the failure of the whole.
 */
import { lstatSync, unlinkSync } from "node:fs";
import { type Exchanging, namesAt } from "./exchange.ts";
import { removeHiddenFolder } from "./hidden-folder.ts";
import { after, type HeldName, moveVerified, type VerifyEntry, withBoth } from "./scope.ts";
import { swapVerified } from "./swap-names.ts";

/** Reverts a place, a set-aside or a rename. Throws the errno error, EEXIST if the name is taken. */
export function moveBack([from, to]: readonly [HeldName, HeldName], verify: VerifyEntry): void {
  withBoth(from.folder, to.folder, (atFrom, atTo) =>
    moveVerified([atFrom(from.name), atTo(to.name)], (path) => verify(path, after)),
  );
}

/** Reverts an exchange. Throws the errno error. */
export function exchangeBack(
  exchange: Pick<Exchanging, "folder" | "name" | "temporary" | "aside" | "verifyStaged" | "verifyReplaced">,
): void {
  exchange.folder.enter((at) => {
    const names = namesAt(at, exchange);
    exchange.verifyReplaced(names.temporary, after);
    exchange.verifyStaged(names.name, after);
    swapVerified(names, (path) => exchange.verifyStaged(path, after));
  });
}

/** Reverts a change of mode. Throws the errno error. */
export function restoreMode({ folder, name }: HeldName, mode: number, verify: VerifyEntry): void {
  const handle = folder.openPath(name);
  try {
    folder.enter((at) => verify(at(name), after));
    if ((handle.stats.mode & 0o7777) !== mode) handle.chmod(mode);
  } finally {
    handle.close();
  }
}

/** Removes one of the two names that a file has in the middle of a step. Throws the errno error. */
export function dropSecondName([kept, dropped]: readonly [HeldName, HeldName], verify: VerifyEntry): void {
  withBoth(kept.folder, dropped.folder, (atKept, atDropped) => {
    verify(atKept(kept.name), after);
    verify(atDropped(dropped.name), after);
    unlinkSync(atDropped(dropped.name));
  });
}

/** Removes the entry with a temporary name, a folder with everything in it. Does nothing if it is gone. */
export async function removeTemporary(held: HeldName, verify: VerifyEntry): Promise<void> {
  const { folder, name } = held;
  const isFolder = folder.enter((at) => {
    const stats = lstatSync(at(name), { throwIfNoEntry: false });
    if (stats === undefined) return false;
    verify(at(name), after);
    if (stats.isDirectory()) return true;
    unlinkSync(at(name));
    return false;
  });
  if (isFolder) await removeHiddenFolder(folder, name);
}
