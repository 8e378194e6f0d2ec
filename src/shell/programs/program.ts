/** Finds the file of a command. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { Argv } from "./words.ts";

/** A file to run, and its argument vector. The name in `argv` matters to programs with several names. */
export interface Program {
  /** The absolute path of the executable, without symbolic links. */
  readonly file: string;
  readonly argv: Argv;
}

/** Folders of the operating system's programs, whatever PATH says. */
export const programFolders: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** Returns the folders of a PATH, except relative ones, which depend on the working folder. */
export const parseSearchPath = (path: string): string[] => path.split(":").filter(isAbsolute);

/**
 * Returns the canonical path of the first executable regular file called `name` in the folders, as execvp(3)
 * finds it.
 */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  // For execvp(3) "" is missing; "." and ".." are folders.
  if (name === "") return undefined;
  for (const folder of folders) {
    const file = findExecutable(join(folder, name));
    if (file !== undefined) return file;
  }
  return undefined;
}

/** Returns the canonical path of a file, executable or not. A relative path starts at `folder`. */
export function findFile(path: string, folder: string): string | undefined {
  try {
    return realpathSync.native(resolve(folder, path));
  } catch {
    return undefined;
  }
}

function findExecutable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? realpathSync.native(path) : undefined;
  } catch {
    return undefined;
  }
}
