import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
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
