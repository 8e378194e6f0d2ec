import { Measured } from "../../calls/contract/prepared-answer.ts";
import { commaBytes, JsonBudget } from "../../text/sizes/json-budget.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import { leaveOut } from "../update-file/answer.ts";
import type { ChangeResult } from "./changes.ts";

/** The bytes of an answer reserved for everything but results. */
const roomForTheRest = 4096;

/**
 * Returns an answer that fits into one message: if there are very many results, the last ones do not show the
 * changes of files.
 */
export function fitResults<Head extends object>(
  head: Head,
  results: readonly ChangeResult[],
  maxBytes: number,
): Measured<Head & { results: ChangeResult[] }> {
  const bare = results.map(({ echoes, echoes_truncated, diff, diff_truncated, ...rest }) => rest);
  const budget = new JsonBudget(maxBytes - roomForTheRest, jsonBytes({ ...head, results: bare }));
  const fitted = results.map((result, index) => {
    const shown = jsonBytes(result) - jsonBytes(bare[index]);
    return budget.admit(shown + commaBytes(1)) ? result : { ...bare[index]!, ...leaveOut(result) };
  });
  return new Measured({ ...head, results: fitted }, jsonBytes({ ...head, results: fitted }));
}
