import { afterAll, expect, spyOn, test } from "bun:test";
import type { RegexRuntime } from "../text/regex/regex-runtime.ts";
import { createRegexEngine, type RegexEngine } from "../text/regex/rust-regex.ts";
import { LinePatterns } from "./line-patterns.ts";

const regex = createRegexEngine({ threads: false });
afterAll(() => regex.close());

/** Returns patterns, and the runtimes that they have opened. */
function openPatterns() {
  const runtimes: RegexRuntime[] = [];
  const engine = {
    openRuntime(...options: Parameters<RegexEngine["openRuntime"]>) {
      const runtime = regex.openRuntime(...options);
      runtimes.push(runtime);
      return runtime;
    },
  } as RegexEngine;
  return { patterns: new LinePatterns(engine), runtimes };
}

const { patterns } = openPatterns();
const compile = (pattern: string) => patterns.compile(pattern);

// With `slowest`, the engine must keep a state for each "a" in the last 3000 characters.
const slowest = "a[ab]{3000}[^ab]";
const slowLine = Buffer.from(
  Array.from({ length: 65_000 }, (_, index) => ((index * index) % 7919 < 3960 ? "a" : "b")).join(""),
);

test("a pattern that is none is refused, and one that takes too long", () => {
  expect(() => compile("(")).toThrow('The pattern "(" is not valid: unclosed group');
  expect(() => compile(slowest).find(slowLine)).toThrow("takes more than 10 ms for a line of this output");
});

test("a pattern that takes long to compile is refused, and one of its kind in ASCII is not", () => {
  for (const pattern of ["\\w{300}", "\\w{800}", `(?i)${"é".repeat(30_000)}`])
    expect(() => compile(pattern)).toThrow("takes too long to compile");
  expect(() => compile("(?-u:\\w{300})")).not.toThrow();
});

test("a simple pattern is not refused if other programs have the processor", () => {
  let seconds = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => 1000 * seconds++);
  try {
    expect(compile("[xy]{9}z|x$").find(Buffer.from("x".repeat(120_000)))).toBe(119_999);
  } finally {
    clock.mockRestore();
  }
});

test("a text is found at its bytes, beyond ASCII and beside bytes that are not UTF-8", () => {
  using needle = compile("needle");
  expect(needle.find(Buffer.from("\ufeffäneedle"))).toBe(5);
  expect(needle.find(Buffer.from([...Buffer.from("needle"), 0xff]))).toBe(0);
});

test("all patterns share one memory, which is freed when none is open", () => {
  const { patterns, runtimes } = openPatterns();
  const open = Array.from({ length: 40 }, (_, index) => patterns.compile(`${index}x{1,${index + 1}}y`));
  for (const [index, pattern] of open.entries()) {
    expect(pattern.find(Buffer.from(`-${index}xy`))).toBe(1);
    expect(pattern.find(Buffer.from("-"))).toBe(-1);
  }
  expect(runtimes).toHaveLength(1);
  for (const pattern of open) {
    expect(runtimes[0]!.bytes).toBeGreaterThan(0);
    pattern[Symbol.dispose]();
  }
  expect(runtimes[0]!.bytes).toBe(0);
});

test("patterns go on when the memory has been dropped, and it stays small", () => {
  const { patterns, runtimes } = openPatterns();
  const [first, second] = ["first", "second"].map((pattern) => patterns.compile(pattern));
  const large = Array.from({ length: 30 }, (_, index) => patterns.compile(`.{1,${900 + index}}z`));
  for (const pattern of large) {
    pattern.find(Buffer.from("z".repeat(1000)));
    expect(runtimes[0]!.bytes).toBeLessThan(100 * 1024 * 1024);
  }
  expect(() => patterns.compile(slowest).find(slowLine)).toThrow("takes more than 10 ms");
  expect([first!, second!].map((pattern) => pattern.find(Buffer.from("a second one")))).toEqual([-1, 2]);
});

test("patterns of calls that begin together are compiled in several turns", async () => {
  const compiledIn: number[] = [];
  let turn = 0;
  const engine = {
    openRuntime: () => ({
      compile() {
        compiledIn.push(turn);
        for (const ends = performance.now() + 3; performance.now() < ends; );
        return { find: () => -1 };
      },
      drop() {},
    }),
  } as unknown as RegexEngine;
  const patterns = new LinePatterns(engine);
  let isDone = false;
  const all = Promise.all(Array.from({ length: 10 }, () => patterns.compileInTurn("a"))).then(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turn++;
  }
  await all;
  expect(compiledIn).toHaveLength(10);
  expect(new Set(compiledIn).size).toBeGreaterThan(5);
});
