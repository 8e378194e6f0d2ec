import type { DeferredClose } from "../disk/deferred-close.ts";
import { type Attributes, readAttributes } from "../jail/attributes.ts";
import type { ResolvedPath } from "../jail/folder.ts";

/**
 * Returns the attributes that a file keeps when its content is replaced. An unreadable file hides them, and
 * one that is not on disk yet has its own already.
 */
export const attributesToKeep = (
  place: ResolvedPath,
  held: DeferredClose | undefined,
): { readonly attributes?: Attributes | undefined } =>
  place.content === undefined ? { attributes: readAttributes(held?.descriptor) } : {};
