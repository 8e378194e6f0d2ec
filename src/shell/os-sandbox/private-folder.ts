import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A folder for temporary files that only this user can enter. Removing it removes its contents too. */
export interface PrivateFolder {
  /** The canonical path of the folder. */
  readonly path: string;
  /** Writes a file in it. */
  write(name: string, text: string): void;
  remove(): void;
}

/** Makes such a folder in `parent`. Throws if that is not possible. */
export function makePrivateFolder(parent: string): PrivateFolder {
  const path = mkdtempSync(join(realpathSync(parent), "shell-"));
  return {
    path,
    write: (name, text) => writeFileSync(join(path, name), text),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
