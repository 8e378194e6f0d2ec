import { expect, spyOn, test } from "bun:test";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import fc from "fast-check";
import { wholeLines } from "./whole-lines.ts";

/** Returns the output for these pieces. */
async function through(pieces: readonly string[], maxBytes: number): Promise<string[]> {
  const stream = wholeLines(maxBytes);
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return (await stream.toArray()).map(String);
}

test("gives on whole lines, all of them and in order", async () => {
  const text = fc.array(fc.constantFrom("a", "\n", "é"), { maxLength: 8 }).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(text), async (pieces) => {
      const whole = await through(pieces, 1000);
      const all = pieces.join("");
      expect(whole.join("")).toBe(all.slice(0, all.lastIndexOf("\n") + 1));
      for (const lines of whole) expect(lines).toEndWith("\n");
    }),
  );
});

test("of a line that is too long the ends are left, and the lines around it are whole", async () => {
  expect(await through(["x\naa", "bb", "cc", "d\ne", "f\n"], 4)).toEqual(["x\n", "aabbccd", "ef\n"]);
  const long = `head${"-".repeat(3000)}tail`;
  for (const size of [1, 7, 100]) {
    const text = `a\n${long}\nb\n${long}\n${long}\nc\n`;
    const pieces = text.match(new RegExp(`.{1,${size}}`, "gs"))!;
    const all = await through(pieces, 2000);
    const left = all.filter((one) => !one.endsWith("\n"));
    expect(left).toEqual(Array(3).fill(`head${"-".repeat(1020)}${"-".repeat(252)}tail`));
    expect(all.filter((one) => one.endsWith("\n")).join("")).toBe("a\nb\nc\n");
  }
});

test("a line that never ends takes no more memory", async () => {
  const stream = wholeLines(1000);
  const left: Buffer[] = [];
  stream.on("data", (piece: Buffer) => left.push(piece));
  const piece = Buffer.alloc(64 * 1024, "x");
  for (let count = 0; count < 1000; count++) stream.write(piece);
  stream.end("y\nz\n");
  await once(stream, "end");
  expect(left.map(({ length }) => length)).toEqual([1024 + 256, 2]);
});

test("lets other work have a turn while a writer is always ready", async () => {
  const piece = Buffer.alloc(64 * 1024, "x");
  let [sent, most, sinceTurn] = [0, 0, 0];
  const source = new Readable({
    highWaterMark: 1,
    read() {
      sent += piece.length;
      sinceTurn += piece.length;
      most = Math.max(most, sinceTurn);
      this.push(sent > 16 * 1024 * 1024 ? null : piece);
    },
  });
  let isDone = false;
  const nextTurn = () => {
    sinceTurn = 0;
    if (!isDone) setImmediate(nextTurn);
  };
  nextTurn();
  await pipeline(source, wholeLines(1024 * 1024 * 1024).resume());
  isDone = true;
  expect(sent).toBeGreaterThan(16 * 1024 * 1024);
  expect(most).toBeLessThanOrEqual(512 * 1024);
});

test("joins the pieces of a line in steps", async () => {
  const joined = spyOn(Buffer, "concat");
  try {
    const piece = Buffer.from("x");
    const lines = wholeLines(1_000_000);
    const line = once(lines, "data");
    for (let pieces = 0; pieces < 100_000; pieces++) lines.write(piece);
    lines.write("\n");
    expect(String((await line)[0])).toBe(`${"x".repeat(100_000)}\n`);
    const most = Math.max(...joined.mock.calls.map(([pieces]) => pieces.length));
    expect(most).toBeLessThan(5000);
  } finally {
    joined.mockRestore();
  }
});
