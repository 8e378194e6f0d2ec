import { expect, test } from "bun:test";
import { setTimeout } from "node:timers/promises";
import type { AnswerLease } from "../../calls/contract/origin.ts";
import { type Outlet, UnsentAnswers } from "./unsent.ts";

/** Returns an outlet whose figures a test sets, and answers whose release it can await. */
function openBench() {
  const figures = { unsent: 0 as number | undefined, to: {} as Record<string, number>, cuts: 0 };
  const outlet: Outlet = {
    unsentBytes: () => figures.unsent,
    unsentBytesTo: (caller) => figures.to[caller] ?? 0,
    cut: () => {
      figures.cuts++;
      figures.unsent = undefined;
    },
  };
  const answers = new UnsentAnswers(outlet);
  const released: string[] = [];
  const add = (name: string, bytes: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const release = () => {
      released.push(name);
      resolve();
    };
    answers.add({ bytes, release } as AnswerLease, name[0] as string);
    return promise;
  };
  return { figures, released, add };
}

test("what the connection has sent is released, oldest first", async () => {
  const { figures, released, add } = openBench();
  figures.unsent = 250;
  const [first] = ["a1", "a2", "b3", "a4"].map((name) => add(name, 100));
  await first;
  expect(released).toEqual(["a1"]);
  figures.unsent = 0;
  await add("c5", 100);
  expect(released.toSorted()).toEqual(["a1", "a2", "a4", "b3", "c5"]);
});

test("what an engine in this process holds for a caller is held, and others are not held up by it", async () => {
  const { figures, released, add } = openBench();
  figures.to = { a: 150 };
  const [, , , last] = ["a1", "a2", "a3", "b4"].map((name) => add(name, 100));
  await last;
  expect(released).toEqual(["a1", "b4"]);
  figures.to = {};
  await add("b5", 100);
  expect(released.toSorted()).toEqual(["a1", "a2", "a3", "b4", "b5"]);
});

test("while there is no connection nothing counts as sent", async () => {
  const { figures, released, add } = openBench();
  figures.unsent = undefined;
  const gone = add("a1", 100);
  await setTimeout(20);
  expect(released).toEqual([]);
  figures.unsent = 0;
  await gone;
});

test("a connection that holds far too much is cut", async () => {
  const { figures, add } = openBench();
  figures.unsent = 300 * 1024 * 1024;
  const gone = add("a1", 100);
  while (figures.cuts === 0) await setTimeout(1);
  figures.unsent = 0;
  await gone;
  expect(figures.cuts).toBe(1);
});
