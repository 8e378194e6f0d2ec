import { expect, test } from "bun:test";
import { Silence } from "./silence.ts";
import { limitsFor } from "./watchdog.ts";

const limits = { tickMilliseconds: 10, warnMilliseconds: 30, endMilliseconds: 60 };

/** Returns the verdict of each tick, given the number of beats before it. */
function verdicts(beats: readonly number[]): string[] {
  const silence = new Silence(limits);
  return beats.map((beat) => silence.tick(beat));
}

test("an event loop that turns is left alone", () => {
  expect(new Set(verdicts([0, 1, 2, 2, 3, 3, 4]))).toEqual(new Set(["alive"]));
});

test("a silence is warned about once, and then ends the process", () => {
  expect(verdicts([1, 1, 1, 1, 1, 1, 1])).toEqual([
    "alive",
    "alive",
    "alive",
    "warn",
    "alive",
    "alive",
    "end",
  ]);
});

test("a loop that comes back in time is as good as new", () => {
  const back = verdicts([1, 1, 1, 1, 2, 2, 2, 2, 3]);
  expect(back).toEqual(["alive", "alive", "alive", "warn", "back", "alive", "alive", "warn", "back"]);
});

test("a process that was stopped for long, with its watchdog, is silent for one tick", () => {
  expect(verdicts([1, 1, 2])).toEqual(["alive", "alive", "alive"]);
});

test("a process that is to stop has less time", () => {
  const silence = new Silence(limits);
  const stopping = [1, 1, 1, 1].map((beats) => silence.tick(beats, true));
  expect(stopping).toEqual(["alive", "alive", "alive", "end"]);
});

test("a call has all of its time, and five seconds more", () => {
  expect(limitsFor(25_000)).toMatchObject({ warnMilliseconds: 5000, endMilliseconds: 30_000 });
});
