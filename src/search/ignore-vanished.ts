import { Refusal } from "../errors.ts";
import { errnoOf } from "../jail/errno.ts";

/**
 * What `act` returns, or undefined when what it asked for was removed, replaced or closed to us: then it is not part of
 * an answer. Running out of descriptors or memory is no such thing, and is thrown on.
 */
export function ignoreVanished<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal ? error.reason === "io" : !isGone(errnoOf(error))) throw error;
    return undefined;
  }
}

const isGone = (errno: string | undefined): boolean =>
  errno !== undefined && errno !== "EMFILE" && errno !== "ENFILE" && errno !== "ENOMEM";
