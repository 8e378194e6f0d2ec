import { describe, expect, test } from "bun:test";
import { setTimeout } from "node:timers/promises";
import { renderAsciiLines } from "./ascii-lines.ts";
import { PatternError, type Regex, RegexEngineFailure, RegexRuntime } from "./regex-runtime.ts";
import { createRegexEngine } from "./rust-regex.ts";

const { module } = createRegexEngine();

const findIn = (regex: Regex, text: string) => {
  const bytes = Buffer.from(text);
  return regex.find(bytes, 0, bytes.length);
};

describe("a runtime", () => {
  test("finds the start of the leftmost match, in bytes", () => {
    const runtime = new RegexRuntime(module);
    expect(findIn(runtime.compile("o+"), "hé foo")).toBe(5);
    expect(findIn(runtime.compile("x"), "hé foo")).toBe(-1);
    expect(findIn(runtime.compile("$"), "")).toBe(0);
  });

  test("takes the ends of a slice for the ends of the text", () => {
    const text = Buffer.from("a foo b");
    const regex = new RegexRuntime(module).compile("^foo$|\\Bo");
    expect(regex.find(text, 2, 5)).toBe(0);
    expect(regex.find(text, 3, 4)).toBe(-1);
    expect(regex.isMatch(text, 0, 7)).toBe(true);
  });

  test("grows in few steps", () => {
    const runtime = new RegexRuntime(module);
    const sizes = Array.from({ length: 40 }, (_, i) => {
      runtime.compile(`\\w{3}x{${i}}`);
      return runtime.bytes;
    });
    expect(Math.max(...sizes)).toBeGreaterThan(12 * 1024 * 1024);
    expect(new Set(sizes).size).toBeLessThan(20);
  });

  test("refuses what Rust refuses, in its words, on one line", () => {
    const runtime = new RegexRuntime(module);
    const messageOf = (pattern: string) => {
      try {
        runtime.compile(pattern);
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
    const runtime = new RegexRuntime(module);
    const patterns = Array.from({ length: 50 }, (_, i) => runtime.compile(`^n${i}$`));
    for (const round of [1, 2]) {
      patterns.forEach((regex, i) => {
        expect(findIn(regex, `n${i}`)).toBe(0);
        expect(findIn(regex, `n${i + round}`)).toBe(-1);
      });
    }
  });

  test("keeps an instance that has grown for the next use, and not for other work", () => {
    const runtime = new RegexRuntime(module);
    runtime.compile("a");
    runtime.trimMemory();
    expect(runtime.bytes).toBeGreaterThan(0);
    const large = runtime.compile("\\w{80}");
    expect(findIn(large, "é".repeat(80))).toBe(0);
    expect(runtime.bytes).toBeGreaterThan(16 * 1024 * 1024);
    runtime.trimMemory();
    expect(runtime.bytes).toBe(0);
    expect(findIn(large, "é".repeat(80))).toBe(0);
  });

  test("keeps nothing of a pattern that is refused for its size", () => {
    const runtime = new RegexRuntime(module);
    expect(() => runtime.compile("a{1000000}")).toThrow("size limit");
    expect(runtime.bytes).toBe(0);
  });

  test("lets go of the memory of what it dropped, though patterns that were compiled in it stay", async () => {
    const runtime = new RegexRuntime(module);
    const patterns = ["a", "b", "c"].map((pattern) => runtime.compile(pattern));
    let freed = 0;
    const instances = new FinalizationRegistry(() => freed++);
    for (let count = 0; count < 8; count++) {
      for (const regex of patterns) findIn(regex, "abc");
      instances.register(runtime.instance, undefined);
      runtime.drop();
    }
    // The collector works beside this thread, and may take words on the stack for addresses.
    while (freed < 4) {
      runtime.compile("a");
      runtime.drop();
      await setTimeout(1);
    }
    expect(patterns.map((regex) => findIn(regex, "abc"))).toEqual([0, 1, 2]);
  });

  test("goes on after the engine ran out of memory", () => {
    const runtime = new RegexRuntime(module);
    const regex = runtime.compile("a");
    const bomb = Buffer.alloc(16 * 1024 * 1024, "a");
    expect(() => regex.replaceAll(bomb, "x".repeat(1000))).toThrow(RegexEngineFailure);
    expect(findIn(regex, "ba")).toBe(1);
  });

  test("does not grow with the patterns it is given", () => {
    const runtime = new RegexRuntime(module);
    for (let i = 0; i < 6; i++) {
      expect(() => runtime.compile(`\\w{${i + 1000}}`)).toThrow("size limit");
      runtime.compile(`\\w{${i + 80}}`);
    }
    expect(runtime.instance.bytes).toBeLessThan(128 * 1024 * 1024);
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
  const runtime = new RegexRuntime(module);
  const ascii = runtime.compile(renderAsciiLines(runtime.compile(pattern).syntax()));
  expect(findIn(ascii, other)).toBe(-1);
  expect(findIn(ascii, `-\n${matching}\n-`)).toBe(2);
});
