/**
 * The files that are mounted over denied ones. Each is a regular file of blank lines without rights, with the
 * size and the time of the file that it hides: tools that compare those, as git does, take it for unchanged
 * and do not open it.
 */
import {
  closeSync,
  fchmodSync,
  ftruncateSync,
  futimesSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

export interface Masks {
  /** Returns the path of a mask for what is at a path now. */
  over(path: string): string;
}

interface Mask {
  readonly version: string;
  readonly file: string;
  readonly before: string | undefined;
}

/** Bytes of blank lines; the rest of a larger file is a hole. */
const maxBlank = 64 * 1024;

/** Root can read it in spite of its mode; a program may have to be able to run it. */
const executable = 0o100;

/** Makes masks in a folder that commands cannot write. */
export function openMasks(folder: string): Masks {
  const masks = new Map<string, Mask>();
  let count = 0;
  return {
    over(path) {
      const { size, mtime, mtimeMs, mode } = statSync(path);
      const version = `${size} ${mtimeMs} ${mode}`;
      const known = masks.get(path);
      if (known?.version === version) return known.file;
      const file = join(folder, String(count++));
      makeMask(file, { size, mtime, mode: mode & executable });
      // A launcher that has been made may be about to mount the one before.
      if (known?.before !== undefined) rmSync(known.before, { force: true });
      masks.set(path, { version, file, before: known?.file });
      return file;
    },
  };
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

/** Writes a text beside the masks, where commands can read and not change it. Returns its path. */
export function writeAttributes(folder: string, text: string): string {
  const file = join(folder, "attributes");
  const descriptor = openSync(file, "wx", 0o600);
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
  return file;
}
