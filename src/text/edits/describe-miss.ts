/** Sentences about a text that is not in a file: the most similar lines, and the differences. */
import { quoteShort } from "../../base/errors.ts";
import { findConfusables } from "./confusables.ts";
import type { Difference } from "./differences.ts";
import type { Candidate, ExplainedMiss, Miss } from "./explain-miss.ts";

const differences: Readonly<Record<Difference, string>> = {
  indent: "its indentation",
  tabs: "tabs where there are spaces, or the other way round",
  "trailing-space": "blanks or line breaks at the end of lines",
  crlf: "line endings",
  "unicode-quotes": "typographic quotes, dashes or blanks",
  escape: "escapes, such as \\n for a line break",
  none: "its words",
};

/** Returns the facts about a miss that a caller gets beside the sentence. */
export const missDetails = ({ candidates, differs }: Miss): Miss => ({ candidates, differs });

/** Returns the rest of a sentence that says that `sent` is missing, and the next call that works. */
export function describeMiss(
  { candidates: [best], differs, pair, isNumbered, isSpacing }: ExplainedMiss,
  sent: string,
): string {
  if (best === undefined)
    return ", nor anything like it; read the file with coder::read-file, and send text that is there.";
  const near = `most like it ${listLines(best)} (${Math.round(best.similarity * 100)}%)`;
  if (isNumbered)
    return `, because line numbers stand before its lines; ${near}. Send it without the numbers.`;
  const shown =
    pair === undefined
      ? ""
      : ` Line ${pair.number} is ${quoteVisible(pair.line)}, and ${sent} has ${quoteVisible(pair.sent)}${explainVisible(pair)}.`;
  return `; ${near}, and it differs in ${isSpacing ? "blanks within lines" : differences[differs]}.${shown}${describeConfusables(pair, sent)} Send ${sent} exactly as it is in the file.`;
}

/** Says what stands for a blank in quoted lines, since a caller may copy them. */
function explainVisible({ line, sent }: NonNullable<ExplainedMiss["pair"]>): string {
  const both = line + sent;
  const signs = [
    ...(both.includes(" ") ? ["· is a space"] : []),
    ...(both.includes("\t") ? ["→ is a tab"] : []),
    ...(both.includes("\r") ? ["␍ is a carriage return"] : []),
  ];
  return signs.length === 0 ? "" : ` (${signs.join(", ")})`;
}

/** Describes the difference that a reader cannot see. */
function describeConfusables(pair: ExplainedMiss["pair"], sent: string): string {
  const alike = pair && findConfusables(pair.line, pair.sent);
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

/**
 * Quotes a line with visible blanks: a space as `·`, a tab as `→`, a carriage return as `␍`, and others by
 * their code points.
 */
const quoteVisible = (line: string): string =>
  quoteShort(
    (line.length > maxShownUnits ? `${line.slice(0, maxShownUnits).toWellFormed()}…` : line)
      .replaceAll(" ", "·")
      .replaceAll("\t", "→")
      .replaceAll("\r", "␍")
      .replace(unseen, nameUnseen),
  );
