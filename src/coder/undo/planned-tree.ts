import { PlannedTree } from "../../filesystem/overlay/planned-tree.ts";
import type { CoderContext } from "../define.ts";

/** Returns the tree with the paths of records, which are from the base. Old contents may be of any size. */
export function plannedTree({ jail, config }: CoderContext): PlannedTree {
  const unlimited = Number.MAX_SAFE_INTEGER;
  return new PlannedTree(
    { jail: jail.fromBase(), config: { ...config, max_write_bytes: unlimited } },
    { maxBytes: unlimited },
  );
}
