/**
 * The files that are mounted over denied ones. Each is a regular file of blank lines, without permissions,
 * with the size and time of the file that it hides. Tools that compare those, such as git, consider it
 * unchanged and do not open it. In a repository it may be read, because git opens a file whose time is that
 * of its index.
 */
import {
  closeSync,
  existsSync,
  fchmodSync,
  ftruncateSync,
  futimesSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

export interface Masks {
  /** Returns the path of a mask for the current entry at a path. */
  over(path: string): string;
  /** Returns the path of an empty folder for the mount of another one. */
  stashOf(path: string): string;
}

interface Mask {
  readonly version: string;
  readonly file: string;
  readonly before: string | undefined;
}

/** Maximum bytes of blank lines. The rest of a larger file is a hole. */
const maxBlank = 64 * 1024;

/**
 * The permission to execute, which is kept: root ignores other bits, and a program may have to be executable.
 */
const executable = 0o100;

/** The permission that git needs. Root needs none. */
const readable = 0o400;

/** Makes masks in a folder that commands cannot write. `isRoot` says whether the commands run as root. */
export function openMasks(folder: string, isRoot: boolean): Masks {
  const masks = new Map<string, Mask>();
  const stashes = new Map<string, string>();
  let count = 0;
  return {
    over(path) {
      const { size, mtime, mtimeMs, mode } = statSync(path);
      const permission = (mode & executable) | (!isRoot && isInRepository(path) ? readable : 0);
      const version = `${size} ${mtimeMs} ${permission}`;
      const known = masks.get(path);
      if (known?.version === version) return known.file;
      const file = join(folder, String(count++));
      makeMask(file, { size, mtime, mode: permission });
      // A launcher may be about to mount the previous mask.
      if (known?.before !== undefined) rmSync(known.before, { force: true });
      masks.set(path, { version, file, before: known?.file });
      return file;
    },
    stashOf(path) {
      const known = stashes.get(path);
      if (known !== undefined) return known;
      const stash = join(folder, `stash-${stashes.size}`);
      mkdirSync(stash);
      stashes.set(path, stash);
      return stash;
    },
  };
}

function isInRepository(path: string): boolean {
  const folder = dirname(path);
  return existsSync(join(folder, ".git")) || (folder !== path && isInRepository(folder));
}

interface MaskStats {
  readonly size: number;
  readonly mtime: Date;
  readonly mode: number;
}

function makeMask(file: string, { size, mtime, mode }: MaskStats): void {
  const descriptor = openSync(file, "wx", 0o600);
  try {
    writeSync(descriptor, "\n".repeat(Math.min(size, maxBlank)));
    ftruncateSync(descriptor, size);
    futimesSync(descriptor, mtime, mtime);
    fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes a text beside the masks, where commands can read but not change it. Returns its path. */
export function writeBeside(folder: string, { name, text }: { name: string; text: string }): string {
  const file = join(folder, name);
  const descriptor = openSync(file, "wx", 0o600);
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
  return file;
}
