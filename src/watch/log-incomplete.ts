import type { Log } from "../log/log.ts";
import type { SharedTreeOptions } from "./shared-tree.ts";

/** Says in the log why a tree does not know what is there: until it is built again, searches ask the disk. */
export function logIncomplete(log: Log): NonNullable<SharedTreeOptions["onIncomplete"]> {
  return (reason) => {
    if (reason === "limit") log.warn("no more folders can be watched", { reason });
    else log.info("the watched tree is listed again", { reason });
  };
}
