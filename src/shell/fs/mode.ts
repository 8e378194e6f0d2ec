import type { Stats } from "node:fs";
import { refuseFs } from "./fs-errors.ts";

/** The bit that runs a program with the group of its file. Only a folder may have it. */
const setGroup = 0o2000;

/**
 * Parses permission bits in octal (shell §8.4). Throws bad-input, including for bits that would run the file
 * with this worker's rights.
 */
export function parseMode(text: string, { isFolder = false }: { isFolder?: boolean } = {}): number {
  const mode = /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
  const allowed = isFolder ? 0o1777 | setGroup : 0o1777;
  if (Number.isNaN(mode) || mode > 0o7777 || (mode & ~allowed) !== 0) throw refuseFs.badMode(text);
  return mode;
}

/** Renders the permission bits as at least four octal digits. */
export const renderMode = ({ mode }: Pick<Stats, "mode">): string =>
  (mode & 0o7777).toString(8).padStart(4, "0");

/** Returns the time of the last change in whole seconds since 1970, at least 0. */
export const renderTime = ({ mtimeMs }: Pick<Stats, "mtimeMs">): number =>
  Math.max(Math.floor(mtimeMs / 1000), 0);
