import { expect, test } from "bun:test";
import { openTurns } from "./turns.ts";

test("those who wait are served in the order they came", async () => {
  const turns = openTurns(1);
  await turns.take();
  const served: number[] = [];
  const waiting = [1, 2, 3].map((number) => turns.take().then(() => served.push(number)));
  for (const _ of waiting) turns.give();
  await Promise.all(waiting);
  expect(served).toEqual([1, 2, 3]);
});

test("who gives up loses no turn and gets none", async () => {
  const turns = openTurns(1);
  await turns.take();
  const controller = new AbortController();
  const impatient = turns.take(controller.signal);
  const patient = turns.take();
  controller.abort(new Error("gave up"));
  expect(impatient).rejects.toThrow("gave up");
  turns.give();
  await patient;
  expect(turns.take(AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
  turns.give();
  await turns.take();
});
