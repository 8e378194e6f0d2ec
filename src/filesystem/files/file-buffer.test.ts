import { afterAll, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, openSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { FileBuffer, openFileBelow } from "./file-buffer.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const held = openSync(folder, "r");
const open = (name: string): number => {
  const bytes = Buffer.from(name);
  return openFileBelow(held, { bytes, from: 0, to: bytes.length });
};
const mebibyte = 1024 * 1024;
const limits = { maxBytes: 4 * mebibyte, slackBytes: 16 };
const whole = (text: Buffer, length: number) => [text.toString("latin1", 0, length)];

test("lends whole files of every size, and room behind them", () => {
  const buffer = new FileBuffer();
  for (const size of [0, 1, 3 * mebibyte, 65_535, 65_536, 65_537, 131_072, 7, 4 * mebibyte]) {
    const content = "ab".repeat(size).slice(0, size);
    writeFileSync(join(folder, "file"), content);
    const lent = buffer.withContents(open("file"), limits, (text, length) => {
      expect(text.length).toBeGreaterThanOrEqual(length + limits.slackBytes);
      text.fill("x", length, length + limits.slackBytes);
      return whole(text, length);
    });
    expect(lent[0] === content).toBe(true);
  }
});

test("passes over a file of one byte too many", () => {
  const buffer = new FileBuffer();
  writeFileSync(join(folder, "large"), Buffer.alloc(1001, "a"));
  expect(buffer.withContents(open("large"), { ...limits, maxBytes: 1000 }, whole)).toEqual([]);
  expect(buffer.withContents(open("large"), { ...limits, maxBytes: 1001 }, whole)).toEqual([
    "a".repeat(1001),
  ]);
});

test("reads no more of a file whose beginning is of no use", () => {
  const buffer = new FileBuffer();
  writeFileSync(join(folder, "file"), "x".repeat(1_000_000));
  const requested: number[] = [];
  const isOfUse = (text: Buffer, length: number) => {
    requested.push(length);
    return text[0] === "y".charCodeAt(0);
  };
  expect(buffer.withContents(open("file"), { ...limits, isOfUse }, whole)).toEqual([]);
  writeFileSync(join(folder, "file"), "y".repeat(1_000_000));
  expect(buffer.withContents(open("file"), { ...limits, isOfUse }, (_, length) => [length])).toEqual([
    1_000_000,
  ]);
  // A small file has no further bytes.
  writeFileSync(join(folder, "file"), "x".repeat(1000));
  expect(buffer.withContents(open("file"), { ...limits, isOfUse }, (_, length) => [length])).toEqual([1000]);
  expect(requested).toEqual([65_536, 65_536]);
});

test("neither waits for what is no regular file nor tells what is in it", () => {
  const buffer = new FileBuffer();
  execFileSync("mkfifo", [join(folder, "fifo")]);
  expect(buffer.withContents(open("fifo"), limits, () => ["found"])).toEqual([]);
});

test("follows no link, and closes what it opened", () => {
  const buffer = new FileBuffer();
  writeFileSync(join(folder, "target"), "x");
  symlinkSync("target", join(folder, "link"));
  const before = countDescriptorsBelow(folder);
  const broken = () => {
    throw new Error("broken");
  };
  expect(() => buffer.withContents(open("link"), limits, whole)).toThrow(
    expect.objectContaining({ code: "ELOOP" }),
  );
  expect(() => buffer.withContents(open("target"), limits, broken)).toThrow("broken");
  expect(countDescriptorsBelow(folder)).toBe(before);
});
