import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";

/**
 * Returns the contents of the files at `path`, and removes everything there. Goes by descriptors and follows
 * no link: a swap that was under way when a folder was moved still takes place inside it.
 */
export function takeTexts(path: string): string {
  const opened = openThere(path);
  try {
    if (opened === undefined) return "";
    if (fstatSync(opened).isFile()) return readFileSync(opened, "utf8");
    if (!fstatSync(opened).isDirectory()) return "";
    const folder = `/proc/self/fd/${opened}`;
    return readdirSync(folder)
      .map((name) => takeTexts(join(folder, name)))
      .join("");
  } finally {
    if (opened !== undefined) closeSync(opened);
    removeThere(path);
  }
}

/** Returns a descriptor of the file, folder or FIFO; `undefined` if it is missing or a link. */
function openThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Removes the entry, but leaves a folder that a swap has filled again. */
function removeThere(path: string): void {
  for (const remove of [rmdirSync, unlinkSync]) {
    try {
      remove(path);
      return;
    } catch {
      // The entry is of the other kind, or not empty.
    }
  }
}
