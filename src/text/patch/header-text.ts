import { type LineTable, maxHeaderBytes } from "./line-table.ts";
import { refusePatch } from "./patch-errors.ts";

/** Returns the text of a line that names files, or a place in one. Throws a refusal for a longer one. */
export function headerTextOf(lines: LineTable, line: number): string {
  const bytes = lines.endOf(line) - lines.startOf(line);
  const text = lines.headerOf(line);
  if (bytes > maxHeaderBytes) throw refusePatch.longHeader({ line: line + 1, text }, bytes, maxHeaderBytes);
  return text;
}
