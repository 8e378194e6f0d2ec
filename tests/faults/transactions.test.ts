/** Transactions of a worker that is killed, and of two workers at once. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildTree } from "../harness/tree.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { killTransactions, runTransactionChild } from "./kill-transactions.ts";

describe.each([
  { runtime: "as ever", asNode: false, points: 8 },
  { runtime: "with what Node has too", asNode: true, points: 5 },
])("$runtime", ({ asNode, points }) => {
  test("a kill at any call, and of the next start: the tree is as before or as after, and nothing else is left", async () => {
    const report = await killTransactions({ seed: 20_260_101, points, killedStarts: 1, asNode });
    expect(report.faults).toEqual([]);
    expect(report.kills).toBe(points);
    expect(report.done + report.takenBack).toBe(points);
    // Guards against a run that missed an outcome.
    expect(report.done).toBeGreaterThan(0);
    expect(report.takenBack).toBeGreaterThan(points / 2);
    expect(report.killedStarts).toBeGreaterThan(points / 4);
  });

  test("two workers: no transaction comes into another, and none is lost", async () => {
    expect(await runTwo("count", asNode)).toEqual([40, 40, 40, 40, 40]);
  });

  test("two workers edit one file: no edit is lost", async () => {
    expect(await runTwo("edit", asNode)).toEqual([400, 0, 0, 0, 0]);
  });
});

test("over two roots, from one into the other: all of it or nothing", async () => {
  const report = await killTransactions({
    ...{ seed: 20_260_101, points: 4, killedStarts: 1 },
    ...{ asNode: false, inRoots: true },
  });
  expect(report.faults).toEqual([]);
  expect([report.kills, report.done + report.takenBack]).toEqual([4, 4]);
  expect(report.done).toBeGreaterThan(0);
  expect(report.takenBack).toBeGreaterThan(1);
});

/** Returns the number of lines in each of five files after both workers have ended. */
async function runTwo(mode: "count" | "edit", asNode: boolean): Promise<number[]> {
  const root = temporaryFolder();
  const names = Array.from({ length: 5 }, (_, index) => `${index}.txt`);
  buildTree(root, Object.fromEntries(names.map((name) => [name, ""])));
  writeFileSync(join(root, "config.yaml"), JSON.stringify({ base_path: join(root, "base"), fsync: false }));
  mkdirSync(join(root, "state"));
  const outcomes = await Promise.all([1, 2].map(() => runTransactionChild(mode, { root, asNode })));
  expect(outcomes.map(({ calls, log }) => (calls === undefined ? log : "done"))).toEqual(["done", "done"]);
  const lines = names.map((name) => readFileSync(join(root, "base", name), "utf8").split("more").length - 1);
  rmSync(root, { recursive: true });
  return lines;
}
