/**
 * The largest requests, field by field, and the largest work. While each is under way, a small read is sent as soon as the one
 * before it is answered: how many are answered before the large call does not depend on how fast the machine is.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  codesOf,
  type DriverFixture,
  type DriverOutcome,
  outcomeFaults,
  startDriver,
} from "./driver-fixture.ts";

const megabytes = 5;
const million = 1_000_000;

/** Words that differ, so that their n-grams do too. */
const words = Array.from({ length: (megabytes * million) / 8 }, (_, index) =>
  (Math.imul(index, 0x9e3779b1) >>> 0).toString(36).padStart(8, "x"),
).join("");

const tree = { "small.txt": "small\n", "other.txt": "needle\n".repeat(100) };

let driven: DriverFixture;
beforeAll(async () => {
  driven = await startDriver({ tree, config: { profile: "agent", index: "verified" } });
  await driven.call("coder::search", { query: "needle" });
});
afterAll(() => driven.stop());

/** The outcome of a call, which must be well-formed, and the small reads that were answered before it. */
async function callBesideReads(
  functionId: string,
  payload: unknown,
): Promise<{ outcome: DriverOutcome; reads: number }> {
  let outcome: DriverOutcome | undefined;
  const call = driven.call(functionId, payload).then((ended) => {
    outcome = ended;
  });
  let reads = 0;
  while (outcome === undefined) {
    const { answer } = await driven.call("coder::read-file", { path: "small.txt" });
    expect(answer).toMatchObject({ content: "small\n" });
    if (outcome === undefined) reads++;
  }
  await call;
  expect(outcomeFaults(outcome, { functionId, payload, root: driven.root })).toEqual([]);
  return { outcome, reads };
}

describe("a query of 5 MB", () => {
  const queries = {
    words,
    "open brackets": "[".repeat(megabytes * million),
    "names of folders": `${"a/".repeat((megabytes * million) / 2)}!`,
    "replacement characters": "\ufffdabc".repeat((megabytes * million) / 6),
  };

  test.each(Object.entries(queries))("of %s", async (_, query) => {
    for (const fields of [{}, { multiline: true }, { search_content: false }, { ignore_case: true }]) {
      const { outcome } = await callBesideReads("coder::search", { query, ...fields });
      expect([undefined, "C210"]).toContain(codesOf(outcome)[0]);
    }
  });
});
