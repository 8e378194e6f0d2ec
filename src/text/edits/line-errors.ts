import { Refusal } from "../../base/errors.ts";

/** Refusals of line ops. `index` is the place of an op in the caller's list, from 0; lines count from 1. */
export const refuseLines = {
  overlap: ([one, other]: readonly [number, number], line: number): Refusal =>
    new Refusal(
      "bad-input",
      `ops[${one}] and ops[${other}] both cover line ${line} (an insert covers its "at_line"); all numbers are those of the file as it was, and a line may be covered once: join the two into one op.`,
    ),

  insertOutOfRange: (index: number, line: number, lines: number): Refusal =>
    new Refusal(
      "bad-input",
      `ops[${index}] inserts at line ${line} and the file ${has(lines)}; send an "at_line" from 1 to ${lines + 1}, where ${lines + 1} appends.`,
    ),

  outOfRange: (index: number, [from, to]: readonly [number, number], lines: number): Refusal =>
    new Refusal(
      "bad-input",
      `ops[${index}] covers lines ${from} to ${to} and the file ${has(lines)}; ${
        lines === 0
          ? 'add some with an insert whose "at_line" is 1'
          : `send 1 <= from_line <= to_line <= ${lines}`
      }.`,
    ),
} as const;

const has = (lines: number): string =>
  lines === 0 ? "has no lines" : lines === 1 ? "has 1 line" : `has ${lines} lines`;
