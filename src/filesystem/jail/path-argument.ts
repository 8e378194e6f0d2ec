/** A path as an argument of the system calls of `openLibc`: bytes with a NUL after them. */
import { isSelfOrParent } from "./dirents.ts";
import type { Name } from "./folder.ts";
import { requireOneName } from "./jailed-path.ts";
import type { NameBytes } from "./name.ts";

/**
 * The argument, as long as the longest path that Linux takes (PATH_MAX). Each call writes its path here,
 * since calls are synchronous.
 */
export const pathArgument = new Uint8Array(4096);
const encoder = new TextEncoder();

/** Writes the path and a NUL to `pathArgument`. Returns false if it does not fit. */
export function putPath(path: Name): boolean {
  if (path.length >= pathArgument.length) return false;
  if (typeof path !== "string") {
    pathArgument.set(path);
    pathArgument[path.length] = 0;
    return true;
  }
  if (putAscii(path)) return true;
  const { read, written } = encoder.encodeInto(path, pathArgument);
  if (read < path.length || written >= pathArgument.length) return false;
  pathArgument[written] = 0;
  return true;
}

/**
 * Writes a path if it is ASCII. Nearly all are, and they are short, so a call of the encoder would take
 * longer.
 */
function putAscii(path: string): boolean {
  for (let i = 0; i < path.length; i++) {
    const unit = path.charCodeAt(i);
    if (unit >= 0x80) return false;
    pathArgument[i] = unit;
  }
  pathArgument[path.length] = 0;
  return true;
}

/** Like `putPath`, for one name. Throws like `requireOneName`. */
export function putName(name: Name): boolean {
  if (typeof name !== "string" || name.length < 3 || name.length >= pathArgument.length)
    return putAnyName(name);
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    if (unit === slash || unit === 0 || unit >= 0x80) return putAnyName(name);
    pathArgument[i] = unit;
  }
  pathArgument[name.length] = 0;
  return true;
}

function putAnyName(name: Name): boolean {
  requireOneName(name);
  return putPath(name);
}

/**
 * Like `putName`, for the name in `bytes[from, to)`. Returns false also for a name that no entry has
 * (`requireOneName`).
 */
export function putNameIn({ bytes, from, to }: NameBytes): boolean {
  const length = to - from;
  if (length === 0 || length >= pathArgument.length || isSelfOrParent(bytes, from, to)) return false;
  for (let i = 0; i < length; i++) {
    const byte = bytes[from + i]!;
    if (byte === slash || byte === 0) return false;
    pathArgument[i] = byte;
  }
  pathArgument[length] = 0;
  return true;
}

const slash = 0x2f;
