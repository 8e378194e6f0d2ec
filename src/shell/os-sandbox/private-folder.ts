import { mkdtempSync, realpathSync, rm, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** A folder for temporary files that only this user can enter. */
export interface PrivateFolder {
  /** The canonical path of the folder. */
  readonly path: string;
  /** Writes a file in it. */
  write(name: string, text: string): void;
  /** Removes it with its contents, in a thread: commands may have left any number of files there. */
  remove(): Promise<void>;
}

/** Makes such a folder in `parent`. Throws if that is not possible. */
export function makePrivateFolder(parent: string): PrivateFolder {
  const path = mkdtempSync(join(realpathSync(parent), "shell-"));
  return {
    path,
    write: (name, text) => writeFileSync(join(path, name), text),
    remove: () => promisify(rm)(path, { recursive: true, force: true }),
  };
}
