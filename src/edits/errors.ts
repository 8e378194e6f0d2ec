/** Refusals of edits that name a text. What is sent back is what the caller repairs its call with. */
import { quoteShort, Refusal } from "../errors.ts";
import type { Difference } from "./differences.ts";
import type { Candidate, ExplainedMiss } from "./misses.ts";

/** Which op of which file. */
interface OpPlace {
  readonly path: string;
  /** From 0. */
  readonly index: number;
}

const differences: Readonly<Record<Difference, string>> = {
  indent: "its indentation",
  tabs: "tabs where there are spaces, or the other way round",
  "trailing-space": "blanks or line breaks at the end of lines",
  crlf: "line endings",
  "unicode-quotes": "typographic quotes, dashes or blanks",
  escape: "escapes, such as \\n for a line break",
  none: "its words",
};

export const refuseEdit = {
  emptyOldStr: ({ path, index }: OpPlace): Refusal =>
    new Refusal(
      "bad-input",
      `ops[${index}] of ${quoteShort(path)} has an empty old_str; send the text to replace, or add lines with an insert op.`,
      path,
    ),

  sameText: ({ path, index }: OpPlace): Refusal =>
    new Refusal(
      "bad-input",
      `ops[${index}] of ${quoteShort(path)} has an old_str and a new_str that are the same; send as new_str what is to be there instead.`,
      path,
    ),

  textNotFound: ({ path, index }: OpPlace, { pair, isNumbered, ...miss }: ExplainedMiss): Refusal => {
    const start = `ops[${index}]: old_str is not in ${quoteShort(path)}`;
    const [best] = miss.candidates;
    const details = { details: miss };
    if (best === undefined)
      return new Refusal(
        "text-not-found",
        `${start}, nor anything like it; read the file with coder::read-file, and send text that is there.`,
        path,
        details,
      );
    const near = `most like it ${lines(best)} (${Math.round(best.similarity * 100)}%)`;
    if (isNumbered)
      return new Refusal(
        "text-not-found",
        `${start}, because line numbers stand before its lines; ${near}. Send it without the numbers.`,
        path,
        details,
      );
    const shown =
      pair === undefined
        ? ""
        : ` Line ${pair.number} is ${quoteVisible(pair.line)}, and old_str has ${quoteVisible(pair.sent)}.`;
    return new Refusal(
      "text-not-found",
      `${start}; ${near}, and it differs in ${differences[miss.differs]}.${shown} Send old_str exactly as it is in the file.`,
      path,
      details,
    );
  },

  ambiguousText: (
    { path, index }: OpPlace,
    { count, candidates }: { count: number; candidates: readonly Candidate[] },
  ): Refusal =>
    new Refusal(
      "ambiguous",
      `ops[${index}]: old_str is in ${quoteShort(path)} ${count} times${at(candidates)}; send more of the lines around it, so that it is there once, or "replace_all": true.`,
      path,
      { details: { candidates, differs: "none" } },
    ),

  /** `candidates` are the first matches. */
  matchCount: (
    { path, index }: OpPlace,
    { expected, found, candidates }: { expected: number; found: number; candidates: readonly Candidate[] },
  ): Refusal =>
    new Refusal(
      "match-count",
      `ops[${index}] expects ${times(expected)} in ${quoteShort(path)}, and there ${found === 1 ? "is" : "are"} ${found === 0 ? "none" : found}${at(candidates)}; nothing was written. Send what fits only the places that you mean, or the right expect_matches.`,
      path,
      { details: { candidates, differs: "none" } },
    ),
} as const;

const times = (count: number): string => (count === 1 ? "1 match" : `${count === 0 ? "no" : count} matches`);

const lines = ({ from_line: from, to_line: to }: Candidate): string =>
  from === to ? `is line ${from}` : `are lines ${from} to ${to}`;

/** Where the first ones are. */
function at(candidates: readonly Candidate[]): string {
  const numbers = [...new Set(candidates.map(({ from_line }) => from_line))];
  if (numbers.length === 0) return "";
  return numbers.length === 1 ? `, in line ${numbers[0]}` : `, first in lines ${numbers.join(", ")}`;
}

/** Units of a line that are shown. */
const mostShownUnits = 120;

/** A line in quotes, in which blanks can be seen: a space as `·`, a tab as `→`, a carriage return as `␍`. */
const quoteVisible = (line: string): string =>
  quoteShort(
    (line.length > mostShownUnits ? `${line.slice(0, mostShownUnits).toWellFormed()}…` : line)
      .replaceAll(" ", "·")
      .replaceAll("\t", "→")
      .replaceAll("\r", "␍"),
  );
