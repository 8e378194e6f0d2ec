/** The UTF-8 of a path, one character per byte, as the watched tree has names. */
export const latin1Of = (path: string): string => Buffer.from(path).toString("latin1");

/** The map with what is below one path under another. What moves comes last. */
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
