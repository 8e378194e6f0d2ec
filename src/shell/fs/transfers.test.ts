import { expect, test } from "bun:test";
import { Transfers } from "./transfers.ts";

test("there are only so many transfers at once, and each that ends makes room", () => {
  const transfers = new Transfers();
  const under = Array.from({ length: 64 }, () => transfers.begin());
  expect(() => transfers.begin()).toThrow("64 files");
  under[0]!.end();
  expect(transfers.begin().signal.aborted).toBe(false);
});

test("the end of the worker ends them all", () => {
  const transfers = new Transfers();
  const { signal } = transfers.begin();
  transfers.close();
  expect(signal.aborted).toBe(true);
});
