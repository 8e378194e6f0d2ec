/** Sentences about a text that is not in a file: the most similar lines, and the differences. */
import { quoteShort } from "../../base/errors.ts";
import { findConfusables } from "./confusables.ts";
import type { Detail, Difference } from "./differences.ts";
import type { Candidate, ExplainedMiss, Miss } from "./explain-miss.ts";
import type { LinePair } from "./first-unequal.ts";

const differences: Readonly<Record<Difference, string>> = {
  indent: "its indentation",
  tabs: "tabs where there are spaces, or the other way round",
  "trailing-space": "blanks or line breaks at the end of lines",
  crlf: "line endings",
  "unicode-quotes": "typographic quotes, dashes or blanks",
  escape: "escapes, such as \\n for a line break",
  none: "its text",
};

const details: Readonly<Record<Detail, string>> = {
  accents: "how accents are composed (NFC or NFD of Unicode)",
  case: "upper and lower case",
  spacing: "blanks within lines",
  breaks: "where its lines break",
};

/** Returns the facts about a miss that a caller gets beside the sentence. */
export const missDetails = ({ candidates, differs }: Miss): Miss => ({ candidates, differs });

/** Returns the rest of a sentence that says that `sent` is missing, and the next call that works. */
export function describeMiss(miss: ExplainedMiss, sent: string): string {
  const { candidates, differs, pair, wrapping, isWrappedOnly, detail, isUndecoded } = miss;
  const [best] = candidates;
  const encoding = isUndecoded ? ` ${undecoded}` : "";
  if (best === undefined)
    return `, nor anything like it; read the file with coder::read-file, and send text that is there.${encoding}`;
  const near = `most like it ${listLines(best)} (${percentOf(best)}%)`;
  if (wrapping === "numbers")
    return `, because line numbers stand before its lines; ${near}. Send it without the numbers.`;
  if (isWrappedOnly)
    return `, because it stands between fences of Markdown; the text between them ${listLines(best)}. Send it without the fences.`;
  const fences = wrapping === "fences" ? ", even without its fences of Markdown" : "";
  const shown = pair === undefined ? "" : ` ${describePair(pair, best, sent)}`;
  return `${fences}; ${near}, and it differs in ${detail === undefined ? differences[differs] : details[detail]}.${shown}${describeConfusables(pair, sent)}${encoding} Send ${sent} exactly as it is in the file.`;
}

function describePair({ number, line, sent: other }: LinePair, best: Candidate, sent: string): string {
  if (line === undefined)
    return `The file ends after line ${number - 1}, and ${sent} goes on with ${quoteVisible(other, "")}${explainVisible(other)}.`;
  const column = best.from_line === best.to_line && number === best.from_line ? best.column : undefined;
  const verb = column === undefined ? "is" : "has";
  const place = column === undefined ? "" : ` at byte ${column}`;
  return `Line ${number} ${verb} ${quoteVisible(line, other)}${place}, and ${sent} has ${quoteVisible(other, line)}${explainVisible(line + other)}.`;
}

const undecoded =
  'The file is not UTF-8, and U+FFFD stands for bytes that are not: send its `encoding`, such as "windows-1252".';

/** Returns the similarity in percent, which is never 100 for a text that differs. */
const percentOf = ({ similarity }: Candidate): number => Math.min(99, Math.round(similarity * 100));

/** Explains the characters that represent blanks in quoted lines, since a caller may copy them. */
function explainVisible(quoted: string): string {
  const signs = [
    ...(quoted.includes(" ") ? ["· is a space"] : []),
    ...(quoted.includes("\t") ? ["→ is a tab"] : []),
    ...(quoted.includes("\r") ? ["␍ is a carriage return"] : []),
  ];
  return signs.length === 0 ? "" : ` (${signs.join(", ")})`;
}

/** Describes the difference that a reader cannot see. */
function describeConfusables(pair: ExplainedMiss["pair"], sent: string): string {
  const alike = pair?.line === undefined ? undefined : findConfusables(pair.line, pair.sent);
  return alike === undefined
    ? ""
    : ` They look alike: the file has ${alike.found} where ${sent} has ${alike.sent}.`;
}

export const listLines = ({ from_line: from, to_line: to }: Candidate): string =>
  from === to ? `is line ${from}` : `are lines ${from} to ${to}`;

/** Maximum UTF-16 units shown of a line. */
const maxShownUnits = 120;

/** Matches characters that look like none or like a space. */
const unseen = /[\p{Cf}\p{Zs}\u3164\uffa0\u2800\u115f\u1160\p{VS}]/gu;

const nameUnseen = (character: string): string =>
  `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`;

/** Units before a difference that are shown of a long line. */
const unitsBefore = 40;

/**
 * Quotes a line with visible blanks: a space as `·`, a tab as `→`, a carriage return as `␍`, and others by
 * their code points. If the line is long, it shows the part where the other one begins to differ.
 */
function quoteVisible(line: string, other: string): string {
  let same = 0;
  while (same < Math.min(line.length, other.length) && line[same] === other[same]) same++;
  const from = same > maxShownUnits - unitsBefore ? same - unitsBefore : 0;
  const part = line.slice(from, from + maxShownUnits).toWellFormed();
  const isCut = line.length > from + maxShownUnits;
  return quoteShort(
    `${from > 0 ? "…" : ""}${part}${isCut ? "…" : ""}`
      .replaceAll(" ", "·")
      .replaceAll("\t", "→")
      .replaceAll("\r", "␍")
      .replace(unseen, nameUnseen),
  );
}
