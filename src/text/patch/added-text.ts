import { isUtf8 } from "node:buffer";
import { StringDecoder } from "node:string_decoder";
import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { LineTable } from "./line-table.ts";
import type { FilePatch } from "./patch.ts";

const bytesPerStep = 128 * 1024;

/**
 * Returns the lines that a patch adds to a file, in pieces. A patch that is not UTF-8 has the bytes of the
 * file.
 */
export function* addedText(lines: LineTable, { hunks }: FilePatch): Steps<readonly string[]> {
  if (!isUtf8(lines.bytes)) return [];
  const most = hunks.reduce((sum, { first, end }) => sum + lines.startOf(end) - lines.startOf(first), 0);
  const added = Buffer.allocUnsafe(most);
  const steps = new LineSteps();
  let length = 0;
  for (const { first, end, isReversed = false } of hunks)
    for (let line = first; line < end; line++) {
      const [from, to] = [lines.startOf(line), lines.endOf(line)];
      if (lines.startsWith(line, isReversed ? "-" : "+")) length += lines.bytes.copy(added, length, from, to);
      if (steps.isDueAfter(to - from)) yield;
    }
  const decoder = new StringDecoder("utf8");
  const pieces: string[] = [];
  for (let from = 0; from < length; from += bytesPerStep) {
    pieces.push(decoder.write(added.subarray(from, Math.min(length, from + bytesPerStep))));
    yield;
  }
  return pieces;
}
