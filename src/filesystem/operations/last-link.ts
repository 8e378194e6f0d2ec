import type { AdmitOptions } from "../jail/folder.ts";
import { splitPath } from "../jail/parse.ts";

/** Shared by verbs that act on a link itself, and never on its target. */
export interface LinkOptions {
  /**
   * Whether the link may dangle, or lead outside or to a denied entry. Default: false, which refuses such a
   * link.
   */
  readonly linkMayLeadAnywhere?: boolean;
}

/** Returns how to admit the entry at a path. A path that ends in "/" names a folder, not a link. */
export const lastLinkOf = (
  path: string,
  { linkMayLeadAnywhere = false }: LinkOptions,
): NonNullable<AdmitOptions["lastLink"]> =>
  linkMayLeadAnywhere && !splitPath(path).folderOnly ? "bare" : "stay";
