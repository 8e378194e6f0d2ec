import type { Hir, Look, Range } from "./hir.ts";

/** A pattern that matches nothing. */
const nothing = "[a&&b]";
const lastAscii = 0x7f;
const newline = 0x0a;

/**
 * Renders a pattern that matches in a chunk of ASCII text exactly what the pattern of `hir` matches in each
 * of its lines alone. Its classes hold neither newlines nor non-ASCII characters, and the ends of the text
 * become those of a line. Lines end in "\n"; the pattern sees no end of a line before "\r\n". Its automata
 * are a fraction of the size that Unicode's classes need.
 */
export const renderAsciiLines = (hir: Hir): string => render(hir, true);

/**
 * Renders a pattern that matches in an ASCII text of several lines exactly what the pattern of `hir` matches
 * there.
 */
export const renderAsciiText = (hir: Hir): string => render(hir, false);

function render(hir: Hir, byLine: boolean): string {
  switch (hir.kind) {
    case "empty":
      return "(?:)";
    case "literal":
      return hir.bytes.every((byte) => byte <= lastAscii && !(byLine && byte === newline))
        ? Array.from(hir.bytes, renderCode).join("")
        : nothing;
    case "class":
      return renderClass(hir.ranges, byLine);
    case "look":
      return (byLine ? lineEnds[hir.look] : undefined) ?? looks[hir.look];
    case "repetition":
      return `(?:${render(hir.of, byLine)})${renderCount(hir)}`;
    case "concat":
      return hir.of.map((part) => render(part, byLine)).join("");
    case "alternation":
      return `(?:${hir.of.map((part) => render(part, byLine)).join("|")})`;
  }
}

const renderCode = (code: number): string => `\\x{${code.toString(16)}}`;

function renderClass(ranges: readonly Range[], byLine: boolean): string {
  const kept = ranges
    .filter(([first]) => first <= lastAscii)
    .map(([first, last]): Range => [first, Math.min(last, lastAscii)]);
  if (kept.length === 0) return nothing;
  const members = kept.map(([first, last]) => `${renderCode(first)}-${renderCode(last)}`).join("");
  return byLine ? `[${members}&&[^\\n]]` : `[${members}]`;
}

function renderCount({ min, max, greedy }: { min: number; max: number; greedy: boolean }): string {
  return `{${min},${Number.isFinite(max) ? max : ""}}${greedy ? "" : "?"}`;
}

/** The assertions at the ends of a line. */
const lineEnds: Readonly<Partial<Record<Look, string>>> = { Start: "(?m:^)", End: "(?m:$)" };

const looks: Readonly<Record<Look, string>> = {
  Start: "\\A",
  End: "\\z",
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

/** Returns whether `hir` asserts the end of the text or of a line. */
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
