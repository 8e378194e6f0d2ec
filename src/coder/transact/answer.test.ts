import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import { fitResults } from "./answer.ts";

test("of very many results the last ones do not show what was changed", () => {
  const diff = "x".repeat(1000);
  const results = Array.from({ length: 20 }, () => ({ op: "update", path: "a", diff }) as const);
  const { answer, bytes } = runAtOnce(fitResults({ committed: true }, results, 16_000));
  expect(bytes).toBe(jsonBytes(answer));
  expect(bytes).toBeLessThan(16_000);
  const shown = answer.results.filter((result) => result.diff === diff).length;
  expect([shown > 5, shown < 15]).toEqual([true, true]);
  expect(answer.results.at(-1)).toEqual({ op: "update", path: "a", diff: "", diff_truncated: true });
});

test("very many results are measured in steps", () => {
  const results = Array.from({ length: 1000 }, () => ({ op: "delete", path: "a", removed: true }) as const);
  const fitting = fitResults({ committed: true }, results, 1_000_000);
  let steps = 0;
  while (!fitting.next().done) steps++;
  expect(steps).toBeGreaterThan(9);
  const { answer, bytes } = runAtOnce(fitResults({ committed: true }, results, 1_000_000));
  expect(bytes).toBe(jsonBytes(answer));
});
