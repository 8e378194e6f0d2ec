/**
 * Explains why a text is not in the file although a similar one is. Each kind of difference is a folding. A
 * miss has the kind whose folding makes the file contain the text.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { includesText } from "./byte-searcher.ts";

/** The difference between a text and a similar one; "none" if it cannot be folded away. */
export type Difference = "indent" | "tabs" | "trailing-space" | "crlf" | "unicode-quotes" | "escape" | "none";

type Folding = (text: string) => string;

const foldEndings: Folding = (text) => text.replace(/\r\n?/g, "\n");

/**
 * Drops blanks at the ends of lines, and blank lines at both ends, but not the breaks next to other lines. A
 * regular expression would take quadratic time.
 */
function foldTrailing(text: string): string {
  const lines = text.split("\n").map(withoutEndBlanks);
  const first = lines.findIndex((line) => line !== "");
  if (first < 0) return "";
  const last = lines.findLastIndex((line) => line !== "");
  return lines.slice(Math.max(first - 1, 0), last + 2).join("\n");
}

function withoutEndBlanks(line: string): string {
  let end = line.length - (line.endsWith("\r") ? 1 : 0);
  const ending = line.slice(end);
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  return line.slice(0, end) + ending;
}

const foldIndent: Folding = (text) => text.replace(/^[ \t]+/gm, "");

const foldBlanks: Folding = (text) => text.replace(/[ \t]+/g, " ");

/** Maximum combining marks in a row that are composed with a letter: ordering them takes quadratic time. */
const maxMarks = 64;

/** Composes letters with their marks, as NFC of Unicode does, except where more marks follow each other. */
function compose(text: string): string {
  let [composed, from] = ["", 0];
  for (const { 0: marks, index } of text.matchAll(/\p{M}+/gu)) {
    if (marks.length <= maxMarks) continue;
    composed += text.slice(from, index).normalize("NFC") + marks;
    from = index + marks.length;
  }
  return composed + text.slice(from).normalize("NFC");
}

/** Folds quotes, dashes, dots and blanks as word processors and web pages write them. */
const foldTypography: Folding = (text) =>
  compose(text)
    .replace(/[\u2018-\u201b\u2032\u00b4]/g, "'")
    .replace(/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/\u2026/g, "...")
    .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, " ")
    .replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, "");

const escapes: Readonly<Record<string, string>> = {
  "\\n": "\n",
  "\\r": "",
  "\\t": "\t",
  '\\"': '"',
  "\\'": "'",
  "\\`": "`",
  "\\\\": "\\",
  "\\/": "/",
  "\\$": "$",
  "&lt;": "<",
  "&gt;": ">",
  "&amp;": "&",
  "&quot;": '"',
  "&#39;": "'",
  "&apos;": "'",
};

/** Replaces the escapes of JSON and HTML by their characters. */
const foldEscapes: Folding = (text) =>
  text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\[nrt"'`\\/$]|&(?:lt|gt|amp|quot|#39|apos);/g, (sequence) => escapes[sequence]!);

/** The foldings, those that change a text least first. The kind of a miss is the first that explains it. */
const foldings: readonly (readonly [Difference, Folding])[] = [
  ["crlf", foldEndings],
  ["trailing-space", foldTrailing],
  ["indent", foldIndent],
  ["unicode-quotes", foldTypography],
  ["escape", foldEscapes],
  ["tabs", foldBlanks],
];

/** Maximum length of compared texts, in UTF-16 units. */
const maxComparedUnits = 64 * 1024;

/**
 * Returns the difference that keeps `sent` from being a part of `text`, some lines of a file. If there are
 * several, returns the one that obscures it most: escapes before quotes before indentation.
 */
export function* differenceBetween(text: string, sent: string): Steps<Difference> {
  if (Math.max(text.length, sent.length) > maxComparedUnits) return "none";
  // U+FFFD was sent for bytes that are not UTF-8.
  if (yield* includesText(text, sent)) return "none";
  for (const [kind, fold] of foldings) if (yield* holds(text, sent, [fold])) return named(kind, text, sent);
  const kinds = foldings.toReversed().filter(([kind]) => kind !== "tabs");
  const without = (skipped?: Difference) =>
    kinds.filter(([kind]) => kind !== skipped).map(([, fold]) => fold);
  if (!(yield* holds(text, sent, without()))) return "none";
  for (const [kind] of kinds) if (!(yield* holds(text, sent, without(kind)))) return named(kind, text, sent);
  return "none";
}

/** The details of a difference that the sentence names. */
export type Detail = "accents" | "case" | "spacing" | "breaks";

const details: readonly (readonly [Detail, Folding])[] = [
  ["accents", (text) => compose(foldEndings(text))],
  ["case", (text) => foldEndings(text).toLowerCase()],
  ["spacing", (text) => foldEndings(text).replace(/[ \t]+/g, "")],
  ["breaks", foldBreaks],
];

/** Drops blanks and breaks, except a break at either end. */
function foldBreaks(text: string): string {
  const [first, last] = [/^\n/.test(text), /\s$/.test(text)].map((isBreak) => (isBreak ? "\n" : ""));
  return `${first}${text.replace(/\s+/g, "")}${last}`;
}

/**
 * Returns the detail without which the text would be found: how accents are composed, upper and lower case,
 * blanks within lines, or where lines break.
 */
export function* detailBetween(text: string, sent: string, differs: Difference): Steps<Detail | undefined> {
  if (Math.max(text.length, sent.length) > maxComparedUnits) return undefined;
  const wanted = details.filter(([detail]) => (detail === "accents") === (differs === "unicode-quotes"));
  if (differs !== "none" && differs !== "unicode-quotes") return undefined;
  for (const [detail, fold] of wanted) {
    if (yield* includesText(fold(`\n${text}\n`), fold(sent))) return detail;
    yield;
  }
  return undefined;
}

/**
 * Returns whether `sent` is a part of `text` when both are folded, or when only one of them has escapes to
 * unfold.
 */
function* holds(text: string, sent: string, folds: readonly Folding[]): Steps<boolean> {
  const others = folds.filter((fold) => fold !== foldEscapes);
  // The lines of a file lie between breaks, even its first and its last.
  const lines = folds.includes(foldTrailing) ? `\n${text}\n` : text;
  const [folded, sentFolded] = [yield* foldBy(folds, lines), yield* foldBy(folds, sent)];
  if (yield* includesText(folded, sentFolded)) return true;
  if (others.length === folds.length) return false;
  if (yield* includesText(yield* foldBy(others, lines), sentFolded)) return true;
  return yield* includesText(folded, yield* foldBy(others, sent));
}

/** Applies foldings one after the other. Each is a step, since it may take milliseconds. */
function* foldBy(folds: readonly Folding[], text: string): Steps<string> {
  let folded = text;
  for (const fold of folds) {
    folded = fold(folded);
    yield;
  }
  return folded;
}

/**
 * Names the kind of a difference. Indentation by other characters is a difference in tabs, and blanks without
 * any tab have no name.
 */
function named(kind: Difference, text: string, sent: string): Difference {
  if (kind === "indent") return hasTabIndent(text) === hasTabIndent(sent) ? "indent" : "tabs";
  if (kind === "tabs") return text.includes("\t") || sent.includes("\t") ? "tabs" : "none";
  return kind;
}

const hasTabIndent = (text: string): boolean => /^ *\t/m.test(text);
