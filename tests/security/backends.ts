/** The ways in which the jail can hold folders on this system; each must give the same answers. */
export const backends: readonly string[] =
  process.platform === "linux" ? ["openat", "descriptors", "current-directory"] : ["current-directory"];

/** Whether everything is tried through every backend: `npm run suite -- roots`. */
export const isWhole = process.env["ROOTS"] === "all";

/**
 * Returns the items to try through a backend. Backends differ below the jail only, so each but the default one
 * has a third of the items, another third for each `turn`.
 */
export function triedThrough<T>(backend: string, items: readonly T[], turn = 0): T[] {
  const place = backends.indexOf(backend);
  return items.filter((_, index) => isWhole || place === 0 || (turn + index + place) % 3 === 0);
}
