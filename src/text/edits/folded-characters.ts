/**
 * Reads a text as a sequence of characters that leave ink, each folded to one that other texts write for it:
 * typographic quotes to those of a keyboard, capitals to small letters, and escapes to what they stand for.
 * Texts with equal folded characters differ only in such details and in the blanks between.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { unlike } from "./confusables.ts";

/** A character with the marks and invisible characters after it. */
export interface FoldedCharacter {
  /** Its place in the text. */
  readonly from: number;
  readonly to: number;
  /** The character, or the one that its escape stands for. */
  readonly value: string;
  /** The escape that stands for it, or "". */
  readonly escape: string;
}

export interface FoldedCharacters {
  readonly text: string;
  /** Whether its escapes stand for other characters. */
  readonly unescapes: boolean;
  readonly characters: readonly FoldedCharacter[];
  /** The folded characters, one after the other. */
  readonly folded: string;
  /** For each unit of `folded`, the index of its character. */
  readonly owners: Uint32Array;
}

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

/** Matches the escapes of JSON and of HTML. */
export const escapeSequence = /\\u[0-9a-fA-F]{4}|\\[nrt"'`\\/$]|&(?:lt|gt|amp|quot|#39|apos);/g;

const literalPattern =
  /[^ \t\r\n\v\f\p{Zs}\u3164\uffa0\u2800\u115f\u1160\p{Cf}\p{VS}\u2028\u2029\0-\x08\x0e-\x1f\x7f][\p{M}\p{Cf}\p{VS}\u2028\u2029\0-\x08\x0e-\x1f\x7f]*/gu;

/** Matches an escape first, if any. */
const unescapedPattern =
  /\\u[0-9a-fA-F]{4}|\\[nrt"'`\\/$]|&(?:lt|gt|amp|quot|#39|apos);|[^ \t\r\n\v\f\p{Zs}\u3164\uffa0\u2800\u115f\u1160\p{Cf}\p{VS}\u2028\u2029\0-\x08\x0e-\x1f\x7f][\p{M}\p{Cf}\p{VS}\u2028\u2029\0-\x08\x0e-\x1f\x7f]*/gu;

/** Matches characters that are not seen and take no room. */
export const invisiblePattern = /[\p{Cf}\p{VS}\u2028\u2029\0-\x08\x0e-\x1f\x7f]/gu;

/** Matches blanks other than the space, the tab and line ends. */
export const otherSpacePattern =
  /[\v\f\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u3164\uffa0\u2800\u115f\u1160]/g;

const unshown =
  /^[ \t\r\n\v\f\p{Zs}\u3164\uffa0\u2800\u115f\u1160\p{Cf}\p{VS}\u2028\u2029\0-\x08\x0e-\x1f\x7f]*$/u;

const charactersPerStep = 4096;

/** Reads a text. With `unescapes`, its escapes stand for other characters. */
export function* foldCharacters(text: string, unescapes: boolean): Steps<FoldedCharacters> {
  const characters: FoldedCharacter[] = [];
  const parts: string[] = [];
  let length = 0;
  for (const { 0: found, index } of text.matchAll(unescapes ? unescapedPattern : literalPattern)) {
    const value = unescapes ? unescaped(found) : found;
    if (value !== found && unshown.test(value)) continue;
    const part = foldCharacter(value);
    parts.push(part);
    length += part.length;
    const place = { from: index, to: index + found.length };
    characters.push({ ...place, value, escape: value === found ? "" : found });
    if (characters.length % charactersPerStep === 0) yield;
  }
  const owners = new Uint32Array(length);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    owners.fill(index, at, at + part.length);
    at += part.length;
  }
  yield;
  return { text, unescapes, characters, folded: parts.join(""), owners };
}

/** Returns an escape as the character that it stands for, and other text unchanged. */
function unescaped(found: string): string {
  const known = escapes[found];
  if (known !== undefined) return known;
  return /^\\u[0-9a-fA-F]{4}$/.test(found) ? String.fromCharCode(Number.parseInt(found.slice(2), 16)) : found;
}

/** Returns blanks between characters, with escapes replaced by what they stand for. */
export const unescapeAll = (text: string): string => text.replace(escapeSequence, unescaped);

/** Typographic characters by their kind, each with what a keyboard has for it. */
const typography = [
  ["quotes", "'", /[\u2018-\u201b\u2032\u00b4]/g],
  ["quotes", '"', /[\u201c-\u201f\u2033\u00ab\u00bb]/g],
  ["dashes", "-", /[\u2010-\u2015\u2212]/g],
  ["ellipses", "...", /\u2026/g],
] as const;

/** Returns the kinds of the typographic characters in a text. */
export const typographyOf = (text: string): readonly ("quotes" | "dashes" | "ellipses")[] =>
  typography.filter(([, , form]) => text.search(form) >= 0).map(([kind]) => kind);

/** Maximum marks that are composed with a letter: ordering them takes quadratic time. */
const maxMarks = 64;

/** Composes a letter with its marks, as NFC of Unicode does, unless it has too many. */
export const compose = (character: string): string =>
  character.length > maxMarks ? character : character.normalize("NFC");

function foldCharacter(value: string): string {
  if (value.length === 1 && value <= "\u007f") return value.toLowerCase();
  let folded = compose(value.replace(invisiblePattern, ""));
  for (const [, plain, form] of typography) folded = folded.replace(form, plain);
  return unlike(folded).toLowerCase();
}
