/** Refusals of edits that name a text. They contain everything that the caller needs to repair its call. */
import { quoteShort, Refusal } from "../../base/errors.ts";
import { describeMiss, missDetails } from "./describe-miss.ts";
import type { Candidate, ExplainedMiss } from "./explain-miss.ts";

/** The place of an op: its file, and its index. */
interface OpReference {
  readonly path: string;
  /** The index of the op, from 0. */
  readonly index: number;
}

interface AmbiguousText {
  readonly count: number;
  readonly candidates: readonly Candidate[];
  /** The number to expect of all replacements, if the op expects another one. */
  readonly expected?: number | undefined;
}

export const refuseEdit = {
  emptyOldStr: ({ path, index }: OpReference): Refusal =>
    new Refusal(
      "bad-input",
      `ops[${index}] of ${quoteShort(path)} has an empty old_str; send the text to replace, or add lines with an insert op.`,
      path,
    ),

  sameText: ({ path, index }: OpReference): Refusal =>
    new Refusal(
      "bad-input",
      `ops[${index}] of ${quoteShort(path)} has an old_str and a new_str that are the same; send as new_str what is to be there instead.`,
      path,
    ),

  emptyPattern: ({ path, index }: OpReference): Refusal =>
    new Refusal(
      "bad-input",
      `ops[${index}] of ${quoteShort(path)} has an empty \`pattern\`. Nothing was written. Send the regular expression to replace, or add text with an insert op.`,
      path,
    ),

  /** Adds the index of its op to a refusal. */
  inOp: ({ path, index }: OpReference, { reason, message }: Refusal): Refusal =>
    new Refusal(reason, `ops[${index}]: ${message}`, path),

  textNotFound: ({ path, index }: OpReference, miss: ExplainedMiss): Refusal =>
    new Refusal(
      "text-not-found",
      `ops[${index}]: old_str is not in ${quoteShort(path)}${describeMiss(miss, "old_str")}`,
      path,
      { details: { ...missDetails(miss) } },
    ),

  /** Refuses an edit that was made before. `places` are the first places of the new text. */
  alreadyApplied: ({ path, index }: OpReference, places: readonly Candidate[]): Refusal =>
    new Refusal(
      "already-applied",
      `ops[${index}]: old_str is not in ${quoteShort(path)}, and new_str is there already${at(places)}. The edit was most likely made before. Leave the op out, or read the lines with coder::read-file.`,
      path,
      { details: { candidates: places, differs: "none" } },
    ),

  ambiguousText: ({ path, index }: OpReference, { count, candidates, expected }: AmbiguousText): Refusal =>
    new Refusal(
      "ambiguous",
      `ops[${index}]: old_str is in ${quoteShort(path)} ${count} times${at(candidates, count)}; send more of the ${isWithinLine(candidates) ? "text" : "lines"} around it, so that it is there once, or "replace_all": true${expected === undefined ? "" : ` and "expect_matches": ${expected}`}.`,
      path,
      { details: { candidates, differs: "none" } },
    ),

  patternNotFound: ({ path, index }: OpReference, advice: string | undefined): Refusal =>
    new Refusal(
      "text-not-found",
      `ops[${index}]: \`pattern\` matches nothing in ${quoteShort(path)}${advice === undefined ? "" : `: ${advice}`}. Nothing was written. Send a pattern that matches, or "expect_matches": 0 if none is right.`,
      path,
    ),

  /** Refuses a wrong number of matches. `candidates` are the first matches. */
  matchCount: (
    { path, index }: OpReference,
    { expected, found, candidates }: { expected: number; found: number; candidates: readonly Candidate[] },
  ): Refusal =>
    new Refusal(
      "match-count",
      `ops[${index}] expects ${times(expected)} in ${quoteShort(path)}, and there ${found === 1 ? "is" : "are"} ${found === 0 ? "none" : found}${at(candidates)}. Nothing was written. Send what fits only the places that you mean, or the right \`expect_matches\`.`,
      path,
      { details: { candidates, differs: "none" } },
    ),
} as const;

const times = (count: number): string => (count === 1 ? "1 match" : `${count === 0 ? "no" : count} matches`);

/** Returns whether the places are parts of one long line. */
const isWithinLine = (candidates: readonly Candidate[]): boolean =>
  candidates.every(({ from_line, column }) => column !== undefined && from_line === candidates[0]!.from_line);

/** Names the lines of the candidates, which are the first of `count`. */
function at(candidates: readonly Candidate[], count = Number.POSITIVE_INFINITY): string {
  const numbers = [...new Set(candidates.map(({ from_line }) => from_line))];
  if (numbers.length === 0) return "";
  const first = candidates.length < count ? "first " : "";
  const columns = candidates.map(({ column }) => column);
  if (numbers.length === 1 && columns.length > 1 && isWithinLine(candidates))
    return `, ${first}in line ${numbers[0]} at bytes ${columns.join(", ")}`;
  if (numbers.length === 1) return `, in line ${numbers[0]}`;
  return `, ${first}in lines ${numbers.join(", ")}`;
}
