import { expect, test } from "bun:test";
import { InFlight } from "./in-flight.ts";

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

test("waits for calls one after another, each within the time, longer than the time in all", async () => {
  const calls = new InFlight();
  const ended: number[] = [];
  let last: Promise<void> = Promise.resolve();
  for (let number = 1; number <= 5; number++) {
    last = last.then(() => pause(20)).then(() => void ended.push(number));
    void calls.add(last);
  }
  await calls.settled(60);
  expect(ended).toEqual([1, 2, 3, 4, 5]);
});

test("waits no longer for calls of which none ends", async () => {
  const calls = new InFlight();
  void calls.add(new Promise(() => {}));
  void calls.add(Promise.reject(new Error("failed"))).catch(() => {});
  await calls.settled(10);
});

test("without calls there is nothing to wait for", async () => {
  await new InFlight().settled();
});

test("waits for work that begins when a call has ended", async () => {
  const calls = new InFlight();
  const done: string[] = [];
  const render = () => calls.add(pause(20).then(() => void done.push("rendered")));
  void calls.add(pause(5)).then(render);
  await calls.settled(100);
  expect(done).toEqual(["rendered"]);
});
