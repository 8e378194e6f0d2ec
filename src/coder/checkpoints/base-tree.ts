import { PlannedTree } from "../../filesystem/overlay/planned-tree.ts";
import type { CoderContext } from "../define.ts";

/**
 * Returns a planned tree whose paths start at the base, like those of records. Old contents may have any
 * size.
 */
export function baseTree({ jail, config }: CoderContext): PlannedTree {
  const unlimited = Number.MAX_SAFE_INTEGER;
  return new PlannedTree(
    { jail: jail.fromBase(), config: { ...config, max_write_bytes: unlimited } },
    { maxBytes: unlimited },
  );
}
