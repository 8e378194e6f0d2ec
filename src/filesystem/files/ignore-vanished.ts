import { Refusal } from "../../base/errors.ts";
import { errnoOf } from "../jail/errno.ts";

/**
 * Returns the result of `act`, or `undefined` if its file or folder was removed, replaced or became
 * inaccessible, and so is not part of an answer. Rethrows everything else, such as a lack of descriptors or
 * memory. Calls `onUnreadable` for an entry that still exists.
 */
export function ignoreVanished<T>(act: () => T, onUnreadable?: () => void): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal ? error.reason === "io" : !isGone(errnoOf(error))) throw error;
    if (isThere(error)) onUnreadable?.();
    return undefined;
  }
}

const isGone = (errno: string | undefined): boolean =>
  errno !== undefined && errno !== "EMFILE" && errno !== "ENFILE" && errno !== "ENOMEM";

const isThere = (error: unknown): boolean =>
  error instanceof Refusal
    ? error.reason === "permission"
    : !["ENOENT", "ENOTDIR", "ELOOP", "ESTALE", "ENODEV", "ENXIO"].includes(errnoOf(error) ?? "");
