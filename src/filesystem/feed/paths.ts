/** Returns the UTF-8 of a path, one character per byte, like names in the watched tree. */
export const latin1Of = (path: string): string => Buffer.from(path).toString("latin1");

/** Moves the keys below one path under another, after all others, and calls `onMoved` with each of them. */
export function moveKeys<T>(
  map: Map<string, T>,
  [from, to]: readonly [string, string],
  onMoved: (value: T, path: string, old: string) => void,
): void {
  const prefix = `${from}/`;
  const below: [string, T][] = [];
  for (const entry of map) if (entry[0].startsWith(prefix)) below.push(entry);
  for (const [path] of below) map.delete(path);
  for (const [old, value] of below) {
    const path = to + old.slice(from.length);
    map.set(path, value);
    onMoved(value, path, old);
  }
}

/**
 * Returns whether `holds` is true for a folder above the path. It keeps the answer for each folder in
 * `known`.
 */
export function isBelowAny(
  path: string,
  holds: (folder: string) => boolean,
  known: Map<string, boolean>,
): boolean {
  const slash = path.lastIndexOf("/");
  if (slash < 0) return false;
  const folder = path.slice(0, slash);
  const answer = known.get(folder) ?? (holds(folder) || isBelowAny(folder, holds, known));
  known.set(folder, answer);
  return answer;
}
