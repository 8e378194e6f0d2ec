import type { Jail } from "../../jail/folder.ts";

/**
 * Whether a path of the journal is one of these, or below one. They are compared as text, as records have them: links
 * resolved, and whatever is there now.
 */
export function selectPaths(
  requested: readonly string[],
  jail: Pick<Jail, "hostPath">,
): (path: string) => boolean {
  const base = jail.hostPath("").split("/");
  const wanted = requested.map((path) => namesIn(path, base).join("/"));
  return (path) => wanted.some((one) => one === "" || path === one || path.startsWith(`${one}/`));
}

/** The names of a path from the base. */
function namesIn(path: string, base: readonly string[]): string[] {
  const names = path.split("/");
  const isBelow = path.startsWith("/") && base.every((name, index) => names[index] === name);
  return (isBelow ? names.slice(base.length) : names).filter((name) => name !== "" && name !== ".");
}
