import type { Steps } from "../../base/scheduling/time-slice.ts";
import { Measured } from "../../calls/contract/prepared-answer.ts";
import { commaBytes, JsonBudget } from "../../text/sizes/json-budget.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import { leaveOut } from "../update-file/answer.ts";
import type { ChangeResult } from "./changes.ts";

/** Results that are measured in one step: the changes that one shows take a few KiB. */
const resultsPerStep = 64;

/** The bytes of an answer reserved for everything but results. */
const roomForTheRest = 4096;

/**
 * Returns an answer that fits into one message: if there are very many results, the last ones do not show the
 * changes of files.
 */
export function* fitResults<Head extends object>(
  head: Head,
  results: readonly ChangeResult[],
  maxBytes: number,
): Steps<Measured<Head & { results: ChangeResult[] }>> {
  const emptyBytes = jsonBytes({ ...head, results: [] }) + commaBytes(0, results.length);
  const bare = results.map(({ echoes, echoes_truncated, diff, diff_truncated, ...rest }) => {
    return { result: rest, bytes: jsonBytes(rest) };
  });
  yield;
  const bareBytes = bare.reduce((sum, { bytes }) => sum + bytes, emptyBytes);
  const budget = new JsonBudget(maxBytes - roomForTheRest, bareBytes);
  const fitted: ChangeResult[] = [];
  let bytes = emptyBytes;
  for (const [index, result] of results.entries()) {
    if (index % resultsPerStep === resultsPerStep - 1) yield;
    const whole = jsonBytes(result);
    const { result: rest, bytes: least } = bare[index]!;
    const isShown = budget.admit(whole - least + commaBytes(1));
    const fit = isShown ? result : { ...rest, ...leaveOut(result) };
    fitted.push(fit);
    bytes += isShown ? whole : jsonBytes(fit);
  }
  return new Measured({ ...head, results: fitted }, bytes);
}
