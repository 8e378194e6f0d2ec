import type { Hir, Look, Range } from "./hir.ts";

/** A pattern that matches nothing. */
const nothing = "[a&&b]";
const lastAscii = 0x7f;
const newline = 0x0a;

/**
 * A pattern that finds in a piece of ASCII text, taken line by line, what the pattern of `hir` finds in each of those
 * lines alone: characters past ASCII and newlines are out of its classes, and the ends of the text mean those of a line.
 * The lines end in "\n"; before a "\r\n" the end of a line is not seen. Its automata are a fraction of the size that
 * Unicode's classes need.
 */
export function renderAsciiLines(hir: Hir): string {
  switch (hir.kind) {
    case "empty":
      return "(?:)";
    case "literal":
      return hir.bytes.every((byte) => byte <= lastAscii && byte !== newline)
        ? Array.from(hir.bytes, renderCode).join("")
        : nothing;
    case "class":
      return renderClass(hir.ranges);
    case "look":
      return looks[hir.look];
    case "repetition":
      return `(?:${renderAsciiLines(hir.of)})${renderCount(hir)}`;
    case "concat":
      return hir.of.map(renderAsciiLines).join("");
    case "alternation":
      return `(?:${hir.of.map(renderAsciiLines).join("|")})`;
  }
}

const renderCode = (code: number): string => `\\x{${code.toString(16)}}`;

function renderClass(ranges: readonly Range[]): string {
  const kept = ranges
    .filter(([first]) => first <= lastAscii)
    .map(([first, last]): Range => [first, Math.min(last, lastAscii)]);
  if (kept.length === 0) return nothing;
  const members = kept.map(([first, last]) => `${renderCode(first)}-${renderCode(last)}`).join("");
  return `[${members}&&[^\\n]]`;
}

function renderCount({ min, max, greedy }: { min: number; max: number; greedy: boolean }): string {
  return `{${min},${Number.isFinite(max) ? max : ""}}${greedy ? "" : "?"}`;
}

const looks: Readonly<Record<Look, string>> = {
  Start: "(?m:^)",
  End: "(?m:$)",
  StartLF: "(?m:^)",
  EndLF: "(?m:$)",
  StartCRLF: "(?mR:^)",
  EndCRLF: "(?mR:$)",
  WordAscii: "(?-u:\\b)",
  WordAsciiNegate: "(?-u:\\B)",
  WordUnicode: "\\b",
  WordUnicodeNegate: "\\B",
  WordStartAscii: "(?-u:\\b{start})",
  WordEndAscii: "(?-u:\\b{end})",
  WordStartUnicode: "\\b{start}",
  WordEndUnicode: "\\b{end}",
  WordStartHalfAscii: "(?-u:\\b{start-half})",
  WordEndHalfAscii: "(?-u:\\b{end-half})",
  WordStartHalfUnicode: "\\b{start-half}",
  WordEndHalfUnicode: "\\b{end-half}",
};

/** Whether `hir` asks for the end of the text or of a line. */
export function asksForEnd(hir: Hir): boolean {
  switch (hir.kind) {
    case "look":
      return hir.look === "End" || hir.look === "EndLF";
    case "repetition":
      return asksForEnd(hir.of);
    case "concat":
    case "alternation":
      return hir.of.some(asksForEnd);
    default:
      return false;
  }
}
