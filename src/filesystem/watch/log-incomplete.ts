import type { Log } from "../../base/log/log.ts";
import type { SharedTreeOptions } from "./shared-tree.ts";

/** Logs why a tree is incomplete. Until it is rebuilt, searches read the disk. */
export function logIncomplete(log: Log): NonNullable<SharedTreeOptions["onIncomplete"]> {
  return (reason) => {
    if (reason === "limit") log.warn("no more folders can be watched", { reason });
    else log.info("the watched tree is listed again", { reason });
  };
}
