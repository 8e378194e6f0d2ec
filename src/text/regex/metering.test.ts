import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { compileModule, instantiate } from "../../base/wasm/module.ts";
import { meter } from "./metering.ts";
import { PatternError, RegexRuntime } from "./regex-runtime.ts";

const engine = readFileSync(new URL("../../../node_modules/rregex/lib/rregex.wasm", import.meta.url));
const metered = compileModule(meter(engine));

/**
 * Returns a module that imports `__wbindgen_throw`, has a global, and exports a function "f" with this body.
 */
function moduleOf(...body: number[]): Uint8Array {
  const text = (name: string) => [name.length, ...Buffer.from(name)];
  const section = (id: number, ...contents: number[]) => [id, contents.length, ...contents];
  return Uint8Array.from([
    ...[0x00, ...Buffer.from("asm"), 1, 0, 0, 0],
    ...section(1, 2, ...[0x60, 2, 0x7f, 0x7f, 0], ...[0x60, 0, 0]),
    ...section(2, 1, ...text("wbg"), ...text("__wbindgen_throw"), 0, 0),
    ...section(3, 1, 1),
    ...section(6, 1, ...[0x7f, 0, 0x41, 0, 0x0b]),
    ...section(7, 1, ...text("f"), 0, 1),
    ...section(10, 1, body.length + 2, 0, ...body, 0x0b),
  ]);
}

const [loop, branch, end] = [[0x03, 0x40], [0x0c, 0], [0x0b]] as const;

/** Runs "f" of a metered module until it calls back for the fifth time. */
function run(module: Uint8Array): unknown {
  let calls = 0;
  const imports = {
    wbg: {
      __wbindgen_throw: (...values: number[]) => {
        expect(values).toEqual([0, 0]);
        if (++calls === 5) throw new Error("enough");
      },
    },
  };
  const { f } = instantiate(compileModule(meter(module)), imports) as { f: () => unknown };
  return f();
}

describe("a metered module", () => {
  test("calls back from an endless loop, and an error ends it", () => {
    expect(() => run(moduleOf(...loop, ...branch, ...end))).toThrow("enough");
  });

  test.each([
    ["numbers that look like loops", [0x41, 0x03, 0x1a, 0x42, 0x83, 0x03, 0x1a]],
    ["fractions that look like loops", [0x43, 3, 3, 3, 3, 0x1a, 0x44, 3, 3, 3, 3, 3, 3, 3, 3, 0x1a]],
    ["a table of branches", [0x02, 0x40, 0x02, 0x40, 0x41, 1, 0x0e, 2, 0, 1, 0, 0x0b, 0x0b]],
    ["a choice with a type", [0x41, 3, 0x41, 3, 0x41, 3, 0x1c, 1, 0x7f, 0x1a]],
    ["an operation of two bytes", [0x43, 3, 3, 3, 3, 0xfc, 0x00, 0x1a]],
  ])("understands %s", (_, operations) => {
    expect(() => run(moduleOf(...operations, ...loop, ...branch, ...end))).toThrow("enough");
  });

  test("is not made of one with operations that are not known", () => {
    expect(() => meter(moduleOf(0xfd, 0x0c))).toThrow("an operation that is not known: 253");
  });
});

describe("a metered engine", () => {
  test("finds and puts in what the engine as it comes does", () => {
    const runtimes = [new RegexRuntime(compileModule(engine)), new RegexRuntime(metered)];
    const atom = fc.constantFrom("a", "b", ".", "\\w", "[^a]", "\\b", "^", "$", "(a|ab)", "(?<n>b+?)", "é");
    const pattern = fc
      .array(fc.tuple(atom, fc.constantFrom("", "*", "+", "?", "{2}", "*?")), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.map(([one, count], at) => `(?:${one.replace("n", `n${at}`)})${count}`).join(""));
    const words = (...all: string[]) => fc.array(fc.constantFrom(...all)).map((some) => some.join(""));
    const template = words("$0", "$1", "${n0}", "$$", "x", "é");
    fc.assert(
      fc.property(pattern, words("a", "b", "ab", "é", "\n", " "), template, (source, text, replacement) => {
        const body = Buffer.from(text);
        const [plain, counted] = runtimes.map((runtime) =>
          runtime.compile(source).replaceAll(body, replacement).toString(),
        );
        expect(counted).toBe(plain as string);
      }),
      propertyRuns(3000),
    );
  });

  /**
   * Two patterns that take minutes in one call: one that finds nothing, and one that scans the rest at each
   * match.
   */
  test.each([
    ["(?:a|b|ab|ba){1,20000}c|[ab]{1,20000}d", "ab"],
    [".*z|a", "a"],
  ])("can be ended in the midst of %s, and works again", (pattern, letters) => {
    let isEnough = false;
    const runtime = new RegexRuntime(metered, () => {
      if (isEnough) throw new RangeError("enough");
    });
    const regex = runtime.compile(pattern);
    const body = Buffer.alloc(4 * 1024 * 1024, letters);
    isEnough = true;
    expect(() => regex.replaceAll(body, "x")).toThrow(RangeError);
    isEnough = false;
    expect(regex.replaceAll(Buffer.from("z"), "x").toString()).toBe(pattern === ".*z|a" ? "x" : "z");
  });

  test("can be ended while it compiles", () => {
    const runtime = new RegexRuntime(metered, () => {
      throw new RangeError("enough");
    });
    expect(() => runtime.compile("(?:\\w{1,90}){1,90}")).toThrow(RangeError);
    expect(() => new RegexRuntime(metered).compile("(?:\\w{1,90}){1,90}")).toThrow(PatternError);
  });

  test("tells how much memory it has", () => {
    const seen: number[] = [];
    const runtime = new RegexRuntime(metered, (bytes) => seen.push(bytes));
    const { length } = runtime.compile("a").replaceAll(Buffer.alloc(100_000, "a"), "$0".repeat(20));
    expect(seen.at(-1)).toBeGreaterThan(length);
    expect(seen.at(-1)).toBeLessThanOrEqual(runtime.bytes);
  });
});
