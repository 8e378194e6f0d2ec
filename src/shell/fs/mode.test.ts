import { expect, test } from "bun:test";
import { parseMode, renderMode, renderTime } from "./mode.ts";

test.each([
  ["0755", 0o755],
  ["755", 0o755],
  ["0", 0],
  ["1777", 0o1777],
  ["000000644", 0o644],
])("%j is a mode", (text, mode) => expect(parseMode(text)).toBe(mode));

test.each(["", "xyz", "0o755", "-1", "+755", "8", " 755", "10000", "4755", "2755", "7".repeat(400)])(
  "%j is no mode",
  (text) => expect(() => parseMode(text)).toThrow("is not usable"),
);

test("a folder may pass its group on", () => {
  expect(parseMode("2775", { isFolder: true })).toBe(0o2775);
  expect(() => parseMode("4775", { isFolder: true })).toThrow("is not usable");
});

test("what is shown has four digits and whole seconds", () => {
  expect([renderMode({ mode: 0o100644 }), renderMode({ mode: 0o41777 })]).toEqual(["0644", "1777"]);
  expect([renderTime({ mtimeMs: 1999.9 }), renderTime({ mtimeMs: -5 })]).toEqual([1, 0]);
});
