import { isUtf8 } from "node:buffer";
import type { LineTable } from "./line-table.ts";
import type { FilePatch } from "./patch.ts";

/** Returns the lines that a patch adds to a file. A patch that is not UTF-8 has the bytes of the file. */
export function addedText(lines: LineTable, { hunks }: FilePatch): string {
  if (!isUtf8(lines.bytes)) return "";
  const added: string[] = [];
  for (const { first, end, isReversed = false } of hunks)
    for (let line = first; line < end; line++)
      if (lines.startsWith(line, isReversed ? "-" : "+")) added.push(lines.textOf(line));
  return added.join("\n");
}
