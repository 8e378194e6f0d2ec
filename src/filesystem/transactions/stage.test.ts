import { expect, spyOn, test } from "bun:test";
import { readDescriptorTargets } from "../../../tests/harness/descriptors.ts";
import * as steps from "../disk/revert.ts";
import { fileOf, TransactionsFixture } from "./transactions.test-kit.ts";

/** Returns the number of temporary files that this process holds open. */
const held = () => readDescriptorTargets().filter((target) => target.includes("/.coder-tmp-")).length;

test("what was staged is released before it is removed: the process may have run out of descriptors", async () => {
  using fixture = new TransactionsFixture("descriptors", { "a.txt": "" });
  const whenRemoved: number[] = [];
  const { removeTemporary } = steps;
  const spy = spyOn(steps, "removeTemporary").mockImplementation((...args) => {
    whenRemoved.push(held());
    return removeTemporary(...args);
  });
  const paths = ["b", "c", "missing/d"];
  const placed = paths.map((path, change) => ({ kind: "place" as const, path, staged: fileOf("x"), change }));
  await expect(fixture.commit(placed)).rejects.toThrow();
  spy.mockRestore();
  expect(whenRemoved.slice(-2)).toEqual([0, 0]);
  expect([...fixture.snapshot().keys()].filter((key) => key.includes("coder-tmp"))).toEqual([]);
});

test("other calls go on while what was staged is removed", async () => {
  using fixture = new TransactionsFixture("descriptors", {});
  const turnsBefore: number[] = [];
  let [turns, isOver] = [0, false];
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  const { removeTemporary } = steps;
  const spy = spyOn(steps, "removeTemporary").mockImplementation((...args) => {
    if (turns === 0) count();
    turnsBefore.push(turns);
    return removeTemporary(...args);
  });
  const paths = [...Array.from({ length: 2000 }, (_, index) => `${index}`), "missing/d"];
  const placed = paths.map((path, change) => ({ kind: "place" as const, path, staged: fileOf("x"), change }));
  await expect(fixture.commit(placed)).rejects.toThrow();
  isOver = true;
  spy.mockRestore();
  expect(turnsBefore[1999]).toBeGreaterThan(10);
});
