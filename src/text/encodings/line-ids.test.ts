import { expect, test } from "bun:test";
import { LineIds } from "./line-ids.ts";

test("equal lines have one number, and different ones the next, however many", () => {
  const ids = new LineIds();
  const lines = Array.from({ length: 50_000 }, (_, at) => `line ${at}`);
  expect(lines.map((line) => ids.idOf(line))).toEqual([...lines.keys()]);
  expect([...lines].reverse().map((line) => ids.idOf(line))).toEqual([...lines.keys()].reverse());
  expect([ids.size, ids.find("line 49999"), ids.find("line 50000")]).toEqual([50_000, 49_999, undefined]);
});
