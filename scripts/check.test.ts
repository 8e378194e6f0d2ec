import { expect, test } from "bun:test";
import { countTests } from "./check.ts";

const report = (totals: string) =>
  `<?xml version="1.0"?>\n<testsuites name="bun test" ${totals} time="1">\n</testsuites>`;

test("the totals are those of the report", () => {
  const counts = countTests(report('tests="10" assertions="44" failures="2" skipped="3"'), false);
  expect(counts).toEqual({ passed: 5, failed: 2, skipped: 3 });
});

test("a suite that breaks outside its tests has failed", () => {
  const counts = countTests(report('tests="10" assertions="44" failures="0" skipped="0"'), false);
  expect(counts).toEqual({ passed: 10, failed: 1, skipped: 0 });
});

test("a suite that ran nothing has failed", () => {
  expect(countTests("", true)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  const counts = countTests(report('tests="4" assertions="0" failures="0" skipped="4"'), true);
  expect(counts).toEqual({ passed: 0, failed: 1, skipped: 4 });
});
