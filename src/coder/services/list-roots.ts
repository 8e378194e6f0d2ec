import type { Jail } from "../../filesystem/jail/folder.ts";
import { renderName } from "../render/entry-text.ts";

/** Maximum roots that are listed. */
const maxListed = 20;

/** Returns the list of the roots for the instructions of a new session, if there are several. */
export function listRoots(jail: Pick<Jail, "hasTop" | "roots" | "goneRoots">): string | undefined {
  if (!jail.hasTop) return undefined;
  const gone = jail.goneRoots();
  const shown = jail.roots.slice(0, maxListed).map(({ name, isReadOnly }) => {
    const marks = [...(isReadOnly ? ["read-only"] : []), ...(gone.includes(name) ? ["gone"] : [])];
    return `${renderName(name)}/${marks.length === 0 ? "" : ` (${marks.join(", ")})`}`;
  });
  const more = jail.roots.length - shown.length;
  return `${shown.join(", ")}${more === 0 ? "" : ` and ${more} more, which coder::info lists`}`;
}
