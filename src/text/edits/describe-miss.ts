/** Sentences about a text that is not in a file: the most similar lines, and the differences. */
import { quoteShort } from "../../base/errors.ts";
import { findConfusables } from "./confusables.ts";
import type { DifferenceKind, Differences } from "./differences.ts";
import type { Candidate, ExplainedMiss, Miss } from "./explain-miss.ts";
import type { LinePair } from "./first-unequal.ts";

/** The kinds of difference as a sentence names them. An example may follow. */
const kindNames: Readonly<Record<DifferenceKind, string>> = {
  text: "its text",
  case: "upper and lower case",
  escapes: "escapes",
  entities: "entities of HTML",
  quotes: "typographic quotes",
  dashes: "typographic dashes",
  ellipses: "an ellipsis for three dots or the reverse",
  spaces: "blanks of another kind than the space",
  invisible: "invisible characters",
  accents: "how accents are composed (NFC or NFD of Unicode)",
  lookalikes: "letters that look alike",
  tabs: "tabs instead of spaces or the reverse",
  indent: "its indentation",
  spacing: "blanks within lines",
  trailing: "blanks at the end of lines",
  lastBreaks: "line breaks at its end",
  blankLines: "blank lines",
  breaks: "where its lines break",
  lineEnds: "line endings",
};

/** Names all kinds of difference, or nothing if none is known. */
function describeDifferences(differences: Differences): string {
  const names = differences.list().map(([kind, example]) => kindNames[kind] + describeExample(kind, example));
  if (names.length === 0) return "";
  const last = names.at(-1)!;
  return `, and it differs in ${names.length === 1 ? last : `${names.slice(0, -1).join(", ")} and ${last}`}`;
}

function describeExample(kind: DifferenceKind, example: string): string {
  if (kind === "escapes" || kind === "entities") return `, such as ${example}`;
  return kind === "spaces" || kind === "invisible" ? `, such as ${codePointOf(example)}` : "";
}

/** Returns the facts about a miss that a caller gets beside the sentence. */
export const missDetails = ({ candidates, differs }: Miss): Miss => ({ candidates, differs });

/** Returns the rest of a sentence that says that `sent` is missing, and the next call that works. */
export function describeMiss(miss: ExplainedMiss, sent: string): string {
  const { candidates, differences, pair, wrapping, isWrappedOnly, isUndecoded } = miss;
  const [best] = candidates;
  const encoding = isUndecoded ? ` ${undecoded}` : "";
  if (best === undefined)
    return `, nor anything like it; read the file with coder::read-file, and send text that is there.${encoding}`;
  const near = `most like it ${listLines(best)} (${percentOf(best)}%)`;
  if (wrapping === "numbers" && isWrappedOnly)
    return `, because line numbers stand before its lines; ${near}. Send it without the numbers.`;
  if (isWrappedOnly)
    return `, because it stands between fences of Markdown; the text between them ${listLines(best)}. Send it without the fences.`;
  const bare = wrapping === undefined ? "" : `, even without its ${wrappings[wrapping]}`;
  const shown = pair === undefined ? "" : ` ${describePair(pair, best, sent)}`;
  return `${bare}; ${near}${describeDifferences(differences)}.${shown}${describeConfusables(pair, sent)}${encoding} Send ${sent} exactly as it is in the file.`;
}

const wrappings = { numbers: "line numbers", fences: "fences of Markdown" } as const;

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

const codePointOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;

const nameUnseen = (character: string): string => `<${codePointOf(character)}>`;

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
