/** The results of a patch, as on the wire. */
import type { Echo } from "../../text/edits/echo.ts";
import { JsonBudget } from "../../text/sizes/json-budget.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import { octalDigits } from "../fields/permission-bits.ts";
import type { PatchedEntry } from "./patch-tree.ts";

/** Maximum bytes of all echoes as JSON, because the answer about an applied patch must fit into a message. */
const maxEchoBytes = 64 * 1024;

/**
 * Returns the results in the order of the patch. Once the echoes together are too long, later files get none.
 */
export function resultsOf(entries: readonly PatchedEntry[], hasNotes: boolean) {
  const budget = new JsonBudget(maxEchoBytes, 0);
  return entries.map(({ path, kind, from, lines, revision, echoes, isTruncated, ...notes }) => {
    const echo = echoes.map(({ op_index: hunk, ...shown }: Echo) => ({ hunk, ...shown }));
    const isShown = budget.admit(jsonBytes(echo));
    const isCut = isTruncated || !isShown;
    return {
      path,
      kind,
      ...(from !== undefined && { from }),
      ...(lines !== undefined && { new_line_count: lines }),
      ...(revision !== undefined && { revision }),
      ...(echo.length > 0 && { echo: isShown ? echo : [] }),
      ...(isCut && { echo_truncated: true }),
      ...(hasNotes && notesOf(notes)),
    };
  });
}

/** Maximum hunks of one file whose places are reported. */
const maxPlacements = 20;

function notesOf(entry: Pick<PatchedEntry, "placements" | "form" | "isReplacing" | "isDangling" | "mode">) {
  const { placements = [], form = {}, isReplacing, isDangling, mode } = entry;
  const placed = placements.slice(0, maxPlacements).map(({ isTypographic, alsoAt, ...placement }) => ({
    ...placement,
    ...(alsoAt && { also_at: alsoAt }),
    ...(isTypographic && { typographic: true }),
  }));
  const more = placements.length - placed.length;
  return {
    ...(isReplacing && { replaced: true }),
    ...(isDangling && { dangling: true }),
    ...(mode !== undefined && { mode: octalDigits(mode) }),
    ...(placed.length > 0 && { placed }),
    ...(more > 0 && { more_placed: more }),
    ...form,
  };
}
