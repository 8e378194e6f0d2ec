import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { OutputLog } from "./output-log.ts";

const temporaryFolder = mkdtempSync(join(tmpdir(), "coder-"));
afterAll(() => rmSync(temporaryFolder, { recursive: true }));

const openLog = (maxBytes = 4 * 1024 * 1024, folder = temporaryFolder) =>
  new OutputLog({ maxBytes, temporaryFolder: folder });
const wholeText = (log: OutputLog) => log.read(log.start, log.end).toString();

describe("a log", () => {
  test("has the lines of both outputs in the order in which they ended", () => {
    const log = openLog();
    log.add(Buffer.from("one\ntw"), "stdout");
    log.add(Buffer.from("warning\n"), "stderr");
    expect(wholeText(log)).toBe("one\nwarning\n");
    expect(log.unfinished().toString()).toBe("tw");
    log.add(Buffer.from("o\n"), "stdout");
    expect(wholeText(log)).toBe("one\nwarning\ntwo\n");
    expect(log.unfinished()).toHaveLength(0);
  });

  test("shows what has not ended of both outputs, and ends it when it is closed", () => {
    const log = openLog();
    log.add(Buffer.from("Go on? "), "stdout");
    log.add(Buffer.from("hm"), "stderr");
    expect(log.unfinished().toString()).toBe("Go on? \nhm");
    log.close("ended: why");
    expect(wholeText(log)).toBe("Go on? \nhm\nended: why\n");
  });

  test("does not wait for ever for the end of a line", () => {
    const log = openLog();
    log.add(Buffer.alloc(40_000, "x"), "stdout");
    expect(log.end).toBe(0);
    log.add(Buffer.alloc(40_000, "x"), "stdout");
    expect(log.end).toBe(80_001);
  });

  test("reads any part of what lies in memory and in files, which nobody sees", () => {
    const log = openLog();
    const lines = Array.from({ length: 30_000 }, (_, index) => `${"x".repeat(index % 97)} ${index}\n`);
    const whole = Buffer.from(lines.join(""));
    for (let at = 0; at < whole.length; at += 60_000) log.add(whole.subarray(at, at + 60_000), "stdout");
    expect(log.end).toBe(whole.length);
    expect(log.start).toBe(0);
    expect(wholeText(log)).toBe(whole.toString());
    expect(log.read(262_100, 262_200).equals(whole.subarray(262_100, 262_200))).toBe(true);
    expect(readdirSync(temporaryFolder)).toEqual([]);
    for (const line of [1, 2, 1000, 20_000, 30_000]) {
      const position = log.positionOf(line);
      expect(log.read(position, position + lines[line - 1]!.length).toString()).toBe(lines[line - 1]!);
      expect(log.lineAt(position)).toBe(line);
    }
    expect(log.positionOf(30_001)).toBe(log.end);
    expect(log.lineAt(log.end)).toBe(30_001);
    log.drop();
    expect(log.read(0, whole.length)).toHaveLength(0);
    expect(log.positionOf(1)).toBe(log.end);
  });

  test.each([temporaryFolder, join(temporaryFolder, "none")])(
    "drops the oldest beyond its limit, with files in %s",
    (folder) => {
      const log = openLog(1024 * 1024, folder);
      const line = `${"y".repeat(99)}\n`;
      for (let count = 0; count < 50_000; count++) log.add(Buffer.from(line), "stdout");
      expect(log.end).toBe(5_000_000);
      expect(log.end - log.start).toBeLessThanOrEqual(1024 * 1024);
      expect(log.end - log.start).toBeGreaterThan(200 * 1024);
      expect(wholeText(log)).toBe(line.repeat((log.end - log.start) / 100));
      expect(log.lineAt(log.start)).toBe(log.start / 100 + 1);
      expect(log.positionOf(1)).toBe(log.start);
      expect(log.positionOf(49_000)).toBe(4_899_900);
      log.drop();
    },
  );

  test("notifies those who wait, also of a line that has not ended", async () => {
    const log = openLog();
    const changed = log.changed();
    log.add(Buffer.from("x"), "stderr");
    await changed;
  });
});

test("no byte of an output is lost, moved or made up, however it comes in pieces", () => {
  const piece = fc.record({
    from: fc.constantFrom("stdout" as const, "stderr" as const),
    text: fc.string({ unit: fc.constantFrom("a", "b", "\n", "é", "\r"), maxLength: 30 }),
  });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const log = openLog();
      for (const { from, text } of pieces) log.add(Buffer.from(text), from);
      log.close();
      const lines = wholeText(log).split("\n");
      const written = (["stdout", "stderr"] as const).map((name) =>
        pieces.flatMap(({ from, text }) => (from === name ? [text] : [])).join(""),
      );
      const expected = written.flatMap((text) =>
        text
          .replace(/([^\n])$/, "$1\n")
          .split("\n")
          .slice(0, -1),
      );
      expect(lines.slice(0, -1).sort()).toEqual(expected.sort());
    }),
  );
});
