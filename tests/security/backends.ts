/** The backends that can hold the jail's folders on this system. All must give the same answers. */
export const backends: readonly string[] =
  process.platform === "linux" ? ["openat", "descriptors", "current-directory"] : ["current-directory"];

/** Whether to try everything through every backend, as `npm run suite -- roots` does. */
export const isWhole = process.env["ROOTS"] === "all";

/**
 * Returns the items to try through a backend. Backends differ only below the jail, so each but the default
 * one gets a third of the items, and another third for each `turn`.
 */
export function triedThrough<T>(backend: string, items: readonly T[], turn = 0): T[] {
  const place = backends.indexOf(backend);
  return items.filter((_, index) => isWhole || place === 0 || (turn + index + place) % 3 === 0);
}
