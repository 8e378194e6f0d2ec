import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { closeSync, writeSync } from "node:fs";
import { HeadBuffer } from "./head-buffer.ts";
import { capturePipe } from "./output.ts";
import { openPipes } from "./pipe.ts";

test("an output that comes faster than it is read is read in several turns", async () => {
  const [{ readEnd, writeEnd }] = openPipes(1) as [{ readEnd: number; writeEnd: number }];
  let turn = 0;
  const turns: number[] = [];
  let bytes = 0;
  const { closed } = capturePipe(readEnd, new HeadBuffer(1000), (piece) => {
    bytes += piece.length;
    turns.push(turn);
    for (const until = performance.now() + 3; performance.now() < until; );
    return undefined;
  });
  spawn("head", ["-c", "4000000", "/dev/zero"], { stdio: ["ignore", writeEnd, "ignore"] });
  closeSync(writeEnd);
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  for (; !isClosed; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(bytes).toBe(4_000_000);
  const most = Math.max(...turns.map((one) => turns.filter((other) => other === one).length));
  expect(most).toBeLessThanOrEqual(2);
});

test("what is left in the pipes of many programs that have exited is read at once", async () => {
  const pipes = openPipes(20)!;
  const outputs = pipes.map(({ readEnd, writeEnd }) => {
    writeSync(writeEnd, Buffer.alloc(40_000));
    return capturePipe(readEnd, new HeadBuffer(100_000), () => {
      for (const until = performance.now() + 3; performance.now() < until; );
      return undefined;
    });
  });
  for (const { writeEnd } of pipes) closeSync(writeEnd);
  for (const output of outputs) output.hurry();
  let isClosed = false;
  const closed = Promise.all(outputs.map((output) => output.closed)).then(() => {
    isClosed = true;
  });
  let turns = 0;
  for (; !isClosed; turns++) await new Promise((resolve) => setImmediate(resolve));
  await closed;
  expect(outputs.map(({ head }) => head.render().length)).toEqual(pipes.map(() => 40_000));
  expect(turns).toBeLessThan(15);
});
