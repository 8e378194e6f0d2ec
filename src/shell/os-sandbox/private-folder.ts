import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A folder for temporary files, of this user alone, until it is removed with all that is in it. */
export interface PrivateFolder {
  /** The canonical path of the folder. */
  readonly path: string;
  remove(): void;
}

/** Makes one in `parent`. Throws where that is not possible. */
export function makePrivateFolder(parent: string): PrivateFolder {
  const path = mkdtempSync(join(realpathSync(parent), "shell-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
