import { expect, test } from "bun:test";
import { joinInSteps } from "./join-bytes.ts";

const mebibyte = 1024 * 1024;

test.each([
  ["none", [], 0],
  ["empty", [Buffer.alloc(0)], 0],
  ["very many small", Array.from({ length: 50_000 }, (_, index) => Buffer.of(index & 0xff)), 10],
  ["large", Array.from({ length: 32 }, (_, index) => Buffer.alloc(mebibyte, index)), 30],
  ["large, then small", [Buffer.alloc(mebibyte, 1), ...Array(5000).fill(Buffer.of(2))], 2],
] as const)("%s parts are joined, many of them in several steps", (_, parts, fewest) => {
  const joining = joinInSteps(parts);
  let steps = 0;
  let joined = joining.next();
  for (; !joined.done; joined = joining.next()) steps++;
  expect(joined.value.equals(Buffer.concat(parts))).toBe(true);
  expect(steps).toBeGreaterThanOrEqual(fewest);
});
