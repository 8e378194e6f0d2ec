import type { Jail } from "./folder.ts";

/**
 * Returns the names of a path for a comparison with other paths: itself, and the name of the place that it
 * currently leads to, links resolved and in one spelling. Never throws: a path that leads nowhere has only
 * its own name.
 */
export function placeNames(path: string, jail: Pick<Jail, "admit" | "fold">): readonly string[] {
  const own = path
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
  try {
    using place = jail.admit(path, { mayBeMissing: true, mayBeFolder: true, parents: true });
    const name = jail.fold(place);
    return name === own ? [own] : [own, name];
  } catch {
    return [own];
  }
}
