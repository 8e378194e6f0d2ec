/** Returns the UTF-8 of a path, one character per byte, like names in the watched tree. */
export const latin1Of = (path: string): string => Buffer.from(path).toString("latin1");

/** Returns the map with the keys below one path moved under another. Moved entries come last. */
export function movedKeys<T>(
  map: ReadonlyMap<string, T>,
  [from, to]: readonly [string, string],
  move: (value: T) => T,
): Map<string, T> {
  const kept = new Map<string, T>();
  const moved: [string, T][] = [];
  for (const [path, value] of map)
    if (path.startsWith(`${from}/`)) moved.push([to + path.slice(from.length), move(value)]);
    else kept.set(path, value);
  for (const [path, value] of moved) kept.set(path, value);
  return kept;
}
