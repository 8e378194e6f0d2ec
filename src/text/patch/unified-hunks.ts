/** Finds the end of a hunk in a unified diff. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { headerTextOf } from "./header-text.ts";
import { type HunkHeader, parseHunkHeader } from "./hunk-header.ts";
import type { LineTable } from "./line-table.ts";
import type { Hunk } from "./patch.ts";
import { refusePatch } from "./patch-errors.ts";

const linesPerStep = 16_384;

/**
 * Reads the hunk whose `@@` line is at `line`. It has as many lines as its header says, if the counts are
 * right and no further line could belong to it. Otherwise it extends to the next hunk or file, as with `git
 * apply --recount`.
 */
export function* readHunkAt(lines: LineTable, line: number): Steps<Hunk> {
  const text = headerTextOf(lines, line);
  const header = parseHunkHeader(text);
  const counted = header === undefined ? undefined : yield* endByCounts(lines, line + 1, header);
  const end = counted ?? (yield* endByStructure(lines, line + 1));
  if (end === line + 1) throw refusePatch.badLine({ line: line + 1, text }, "no line of a hunk is below it");
  const heading =
    header === undefined
      ? text
          .replace(/^@@ ?/, "")
          .replace(/ ?@@[ \t]*$/, "")
          .trimEnd()
      : "";
  return {
    first: line + 1,
    end,
    headings: /^[-+,. \d]*$/.test(heading) ? [] : [heading],
    isAtEnd: false,
    header,
    isCounted: counted !== undefined,
  };
}

/** Returns whether both lines that name a file begin here. */
export const namesFileAt = (lines: LineTable, line: number): boolean =>
  lines.startsWith(line, "--- ") && lines.startsWith(line + 1, "+++ ");

/** Returns the end according to the counts of the header, or `undefined` if they are wrong. */
function* endByCounts(lines: LineTable, first: number, header: HunkHeader): Steps<number | undefined> {
  let [oldCount, newCount] = [header.old.count, header.new.count];
  let line = first;
  for (; oldCount > 0 || newCount > 0; line++) {
    if (line % linesPerStep === linesPerStep - 1) yield;
    const sign = signAt(lines, line);
    if (sign === undefined || line >= lines.count) return undefined;
    if (sign !== "+" && sign !== "\\") oldCount--;
    if (sign !== "-" && sign !== "\\") newCount--;
    if (oldCount < 0 || newCount < 0) return undefined;
  }
  while (signAt(lines, line) === "\\") line++;
  return (yield* mayGoOn(lines, line)) ? undefined : line;
}

/** Returns whether the next line that is not blank looks like one of the same hunk. */
function* mayGoOn(lines: LineTable, first: number): Steps<boolean> {
  const line = yield* lines.skipEmpty(first);
  return line < lines.count && signAt(lines, line) !== undefined && !endsHunk(lines, line);
}

function* endByStructure(lines: LineTable, first: number): Steps<number> {
  let end = first;
  for (let line = first; line < lines.count && !endsHunk(lines, line); line++) {
    if (line % linesPerStep === linesPerStep - 1) yield;
    if (signAt(lines, line) === undefined)
      throw refusePatch.badLine(
        { line: line + 1, text: lines.headerOf(line) },
        'each line of a hunk begins with " ", "-" or "+"',
      );
    // Blank lines at the end separate it from the text after it.
    if (!lines.isEmpty(line)) end = line + 1;
  }
  return end;
}

const starts = ["diff -", "@@", "Index: ", "```", "*** End Patch", "Only in ", "From "];

/** Returns whether a line begins something other than a further line of a hunk. */
function endsHunk(lines: LineTable, line: number): boolean {
  if (starts.some((start) => lines.startsWith(line, start))) return true;
  if (namesFileAt(lines, line)) return line + 2 >= lines.count || lines.startsWith(line + 2, "@@");
  return isSignature(lines, line);
}

/** Returns whether the line is the two dashes above git's version, which end a mail. */
const isSignature = (lines: LineTable, line: number): boolean =>
  lines.startsWith(line, "--") &&
  /^-- ?$/.test(lines.headerOf(line)) &&
  /^\d+\.\d/.test(lines.headerOf(line + 1));

/** Returns the sign of a line, a blank if it was lost, or `undefined` if the line cannot belong to a hunk. */
function signAt(lines: LineTable, line: number): " " | "-" | "+" | "\\" | undefined {
  const byte = lines.bytes[lines.startOf(line)];
  if (byte === 0x2d) return "-";
  if (byte === 0x2b) return "+";
  if (byte === 0x5c) return "\\";
  return byte === 0x20 || byte === 0x09 || lines.isEmpty(line) ? " " : undefined;
}
