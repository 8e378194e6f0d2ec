import { expect, test } from "bun:test";
import { renderAge, renderSize } from "./times.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

test.each([
  [0, "now"],
  [-3 * minute, "3 minutes ago"],
  [-5 * 60 * minute, "5 hours ago"],
  [-day, "yesterday"],
  [-70 * day, "2 months ago"],
  [2 * minute, "in 2 minutes"],
])("%d ms from now is %s", (offset, text) => {
  expect(renderAge(1_700_000_000_000 + offset, 1_700_000_000_000)).toBe(text);
});

test.each([
  [0, "0"],
  [1023, "1023"],
  [1500, "1.5K"],
  [20_000, "20K"],
  [3 * 1024 ** 3, "3.0G"],
])("%d bytes are %s", (bytes, text) => {
  expect(renderSize(bytes)).toBe(text);
});
