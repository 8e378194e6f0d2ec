import { Refusal } from "../errors.ts";
import { errnoOf } from "../jail/errno.ts";

/**
 * Returns what `act` returns, or undefined when its file or folder was removed, replaced or closed to us: then it is not
 * part of an answer. Rethrows everything else, such as a lack of descriptors or memory. Calls `onUnreadable` for what is
 * there all the same.
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
