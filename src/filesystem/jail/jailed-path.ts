import type { JailedPath, Name } from "./folder.ts";

/**
 * Returns the path of one entry of a held folder. A name that could lead elsewhere is a bug, not a mistake of
 * a caller, and throws a plain Error. `prefix` ends with "/".
 */
export function jailedPath(prefix: string, name: Name): JailedPath {
  requireOneName(name);
  const path = typeof name === "string" ? prefix + name : Buffer.concat([Buffer.from(prefix), name]);
  return path as JailedPath;
}

/**
 * Throws unless `name` is one name: not empty, not `..`, without "/" and NUL. The folder's own `.` passes.
 */
export function requireOneName(name: Name): void {
  if (name.length === 0 || holdsSeparator(name) || (name.length === 2 && name.toString() === ".."))
    throw new Error("a jailed path takes one name inside a held folder");
}

/**
 * Returns whether "/" or NUL is in the name. In names this short a loop takes less time than `includes`
 * twice.
 */
function holdsSeparator(name: Name): boolean {
  for (let i = 0; i < name.length; i++) {
    const unit = typeof name === "string" ? name.charCodeAt(i) : name[i];
    if (unit === 0x2f || unit === 0) return true;
  }
  return false;
}
