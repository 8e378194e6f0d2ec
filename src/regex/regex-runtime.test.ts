import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { renderAsciiLines } from "./ascii-lines.ts";
import { createRegexEngine } from "./engine.ts";
import { PatternError, type Regex, RegexEngineFailure, RegexRuntime } from "./regex-runtime.ts";

const { module } = createRegexEngine();

const findIn = (regex: Regex, text: string) => {
  const bytes = Buffer.from(text);
  return regex.find(bytes, 0, bytes.length);
};

describe("a machine", () => {
  test("finds the start of the leftmost match, in bytes", () => {
    const machine = new RegexRuntime(module);
    expect(findIn(machine.compile("o+"), "hé foo")).toBe(5);
    expect(findIn(machine.compile("x"), "hé foo")).toBe(-1);
    expect(findIn(machine.compile("$"), "")).toBe(0);
  });

  test("takes the ends of a slice for the ends of the text", () => {
    const text = Buffer.from("a foo b");
    const regex = new RegexRuntime(module).compile("^foo$|\\Bo");
    expect(regex.find(text, 2, 5)).toBe(0);
    expect(regex.find(text, 3, 4)).toBe(-1);
    expect(regex.isMatch(text, 0, 7)).toBe(true);
  });

  test("grows in few steps", () => {
    const machine = new RegexRuntime(module);
    const sizes = Array.from({ length: 40 }, (_, i) => {
      machine.compile(`\\w{3}x{${i}}`);
      return machine.bytes;
    });
    expect(Math.max(...sizes)).toBeGreaterThan(12 * 1024 * 1024);
    expect(new Set(sizes).size).toBeLessThan(20);
  });

  test("refuses what Rust refuses, in its words, on one line", () => {
    const machine = new RegexRuntime(module);
    const messageOf = (pattern: string) => {
      try {
        machine.compile(pattern);
      } catch (error) {
        if (error instanceof PatternError) return error.message;
      }
      return undefined;
    };
    expect(messageOf("\\1")).toBe("backreferences are not supported");
    expect(messageOf("a\n(?x)(")).toBe("unclosed group");
    expect(messageOf("(?-u)\\xff")).toBe("pattern can match invalid UTF-8");
  });

  test("keeps working through more patterns than it keeps, used in any order", () => {
    const machine = new RegexRuntime(module);
    const patterns = Array.from({ length: 50 }, (_, i) => machine.compile(`^n${i}$`));
    for (const round of [1, 2]) {
      patterns.forEach((regex, i) => {
        expect(findIn(regex, `n${i}`)).toBe(0);
        expect(findIn(regex, `n${i + round}`)).toBe(-1);
      });
    }
  });

  test("keeps an instance that has grown for the next use, and not for other work", () => {
    const machine = new RegexRuntime(module);
    machine.compile("a");
    machine.trimMemory();
    expect(machine.bytes).toBeGreaterThan(0);
    const large = machine.compile("\\w{80}");
    expect(findIn(large, "é".repeat(80))).toBe(0);
    expect(machine.bytes).toBeGreaterThan(16 * 1024 * 1024);
    machine.trimMemory();
    expect(machine.bytes).toBe(0);
    expect(findIn(large, "é".repeat(80))).toBe(0);
  });

  test("keeps nothing of a pattern that is refused for its size", () => {
    const machine = new RegexRuntime(module);
    expect(() => machine.compile("a{1000000}")).toThrow("size limit");
    expect(machine.bytes).toBe(0);
  });

  test("lets go of the memory of what it dropped, though patterns that were compiled in it stay", async () => {
    const machine = new RegexRuntime(module);
    const patterns = ["a", "b", "c"].map((pattern) => machine.compile(pattern));
    const dropped = Array.from({ length: 4 }, () => {
      for (const regex of patterns) findIn(regex, "abc");
      const instance = new WeakRef(machine.instance);
      machine.drop();
      return instance;
    });
    // Once to let go of what was looked at in this turn, and once for it to be collected.
    for (let turns = 0; turns < 2; turns++) {
      machine.compile("a");
      machine.drop();
      await setImmediate();
      await setImmediate();
    }
    // The collector takes whatever looks like an address on the stack for one.
    expect(dropped.filter((instance) => instance.deref() !== undefined).length).toBeLessThan(2);
    expect(patterns.map((regex) => findIn(regex, "abc"))).toEqual([0, 1, 2]);
  });

  test("goes on after the engine ran out of memory", () => {
    const machine = new RegexRuntime(module);
    const regex = machine.compile("a");
    const bomb = Buffer.alloc(16 * 1024 * 1024, "a");
    expect(() => regex.replaceAll(bomb, "x".repeat(1000))).toThrow(RegexEngineFailure);
    expect(findIn(regex, "ba")).toBe(1);
  });

  test("does not grow with the patterns it is given", () => {
    const machine = new RegexRuntime(module);
    for (let i = 0; i < 6; i++) {
      expect(() => machine.compile(`\\w{${i + 1000}}`)).toThrow("size limit");
      machine.compile(`\\w{${i + 80}}`);
    }
    expect(machine.instance.bytes).toBeLessThan(128 * 1024 * 1024);
  });
});

test.each([
  ["a(b|cd)*?$", "a.b", "ab"],
  ["[^x]y", "\ny", "ay"],
  ["\\w+\\b{end}", "é", "_0"],
  ["(?i)k\\pL", "k1", "kA"],
  ["é|b", "e", "b"],
  ["\\n|c", "\n", "c"],
  ["(?-u:\\b)a{2,3}", "aba", "aa"],
])("%s in lines of ASCII", (pattern, other, matching) => {
  const machine = new RegexRuntime(module);
  const ascii = machine.compile(renderAsciiLines(machine.compile(pattern).syntax()));
  expect(findIn(ascii, other)).toBe(-1);
  expect(findIn(ascii, `-\n${matching}\n-`)).toBe(2);
});
