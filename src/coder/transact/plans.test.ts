import { expect, test } from "bun:test";
import { Plans } from "./plans.ts";

interface Call {
  readonly caller?: string;
}

let now = 0;
const open = () => new Plans<Call>(() => now);
const saying = (text: string, caller?: string) => ({ caller, bytes: 0, carryOut: async () => text });

test("a plan is carried out once", async () => {
  const plans = open();
  const { plan, plan_expires_at } = plans.add(saying("done"));
  expect([plan.length, plan_expires_at]).toEqual([32, 600]);
  expect(await plans.carryOut(plan, {})).toEqual({ answer: "done" });
  expect(await plans.carryOut(plan, {})).toBeUndefined();
});

test("a plan is its caller's", async () => {
  const plans = open();
  const { plan } = plans.add(saying("done", "one"));
  expect(await plans.carryOut(plan, { caller: "two" })).toBeUndefined();
  expect(await plans.carryOut(plan, {})).toBeUndefined();
  expect(await plans.carryOut(plan, { caller: "one" })).toEqual({ answer: "done" });
});

test("a plan that fails stays", async () => {
  const plans = open();
  let fails = true;
  const carryOut = async () => {
    if (fails) throw new Error("stale");
    return "done";
  };
  const { plan } = plans.add({ caller: undefined, bytes: 0, carryOut });
  await expect(plans.carryOut(plan, {})).rejects.toThrow("stale");
  fails = false;
  expect(await plans.carryOut(plan, {})).toEqual({ answer: "done" });
});

test("a plan holds for ten minutes", async () => {
  const plans = open();
  const [first, second] = [plans.add(saying("1")), plans.add(saying("2"))];
  now = 10 * 60_000 - 1;
  expect(await plans.carryOut(first.plan, {})).toEqual({ answer: "1" });
  now = 10 * 60_000;
  expect(await plans.carryOut(second.plan, {})).toBeUndefined();
  now = 0;
});

test("the oldest of 65 plans makes room", async () => {
  const plans = open();
  const all = Array.from({ length: 65 }, (_, index) => plans.add(saying(String(index))).plan);
  expect(await plans.carryOut(all[0]!, {})).toBeUndefined();
  expect(await plans.carryOut(all[1]!, {})).toEqual({ answer: "1" });
  expect(await plans.carryOut(all[64]!, {})).toEqual({ answer: "64" });
});

const mebibyte = 1024 * 1024;
const taking = (mebibytes: number, caller: string) => ({
  ...saying(`${mebibytes}`, caller),
  bytes: mebibytes * mebibyte,
});

test("the plans of a caller take 64 MiB: its oldest make room, and no others", async () => {
  const plans = open();
  const other = plans.add(taking(1, "other")).plan;
  const [first, second, third] = [30, 30, 10].map((size) => plans.add(taking(size, "one")).plan);
  expect(await plans.carryOut(first!, { caller: "one" })).toBeUndefined();
  for (const plan of [second!, third!])
    expect(await plans.carryOut(plan, { caller: "one" })).not.toBeUndefined();
  expect(await plans.carryOut(other, { caller: "other" })).toEqual({ answer: "1" });
  expect(() => plans.add(taking(65, "one"))).toThrow(`take ${65 * mebibyte} bytes of memory`);
});

test("all plans take 128 MiB: the oldest of the caller with the most make room", async () => {
  const plans = open();
  const small = plans.add(taking(1, "small")).plan;
  const large = [40, 20].map((size) => plans.add(taking(size, "large")).plan);
  const medium = [25, 25].map((size) => plans.add(taking(size, "medium")).plan);
  const last = plans.add(taking(40, "last")).plan;
  expect(await plans.carryOut(large[0]!, { caller: "large" })).toBeUndefined();
  expect(await plans.carryOut(large[1]!, { caller: "large" })).toEqual({ answer: "20" });
  for (const plan of medium)
    expect(await plans.carryOut(plan, { caller: "medium" })).toEqual({ answer: "25" });
  expect(await plans.carryOut(small, { caller: "small" })).toEqual({ answer: "1" });
  expect(await plans.carryOut(last, { caller: "last" })).toEqual({ answer: "40" });
});
