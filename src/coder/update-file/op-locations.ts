import type { LineRange } from "../../text/edits/conflict.ts";
import { type Candidate, explainMissing, placesOf } from "../../text/edits/explain-miss.ts";
import { findMatches } from "../../text/edits/str-replace.ts";
import type { CoderContext } from "../define.ts";
import { inSlices } from "./apply-ops.ts";
import type { Ops, StrReplaceOp } from "./ops.ts";

/** Maximum texts to locate, since finding the likely place of a missing text takes long in a large file. */
const maxTexts = 3;

/** Returns the lines of a file that ops name, or whose text they name. A regex names none. */
export async function locateOps(body: Buffer, ops: Ops, context: CoderContext): Promise<LineRange[]> {
  const ranges: LineRange[] = [];
  let texts = 0;
  for (const op of ops) {
    if (op.op === "insert") ranges.push([op.at_line, op.at_line]);
    else if (op.op === "remove" || op.op === "update_lines") ranges.push([op.from_line, op.to_line]);
    else if (op.op === "str_replace" && ++texts <= maxTexts)
      ranges.push(...(await locateText(body, op, context)));
  }
  return ranges;
}

/** Returns the place of the text, or else the place where it was probably meant to be. */
async function locateText(body: Buffer, op: StrReplaceOp, { deadline }: CoderContext): Promise<LineRange[]> {
  const matches = await inSlices(findMatches(body, op), deadline);
  if (matches.starts.length > 0) return placesOf(body, matches).map(toRange);
  const { candidates } = await inSlices(explainMissing(body, op.old_str), deadline);
  return candidates.slice(0, 1).map(toRange);
}

const toRange = ({ from_line, to_line }: Candidate): LineRange => [from_line, to_line];
