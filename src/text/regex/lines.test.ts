import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { createRegexEngine } from "./rust-regex.ts";

describe("replaceInLines", () => {
  const engine = createRegexEngine();
  afterAll(() => engine.close());

  const replace = async (
    body: string,
    [pattern, replacement]: readonly [string, string],
    lines: "every" | "first" = "every",
  ): Promise<[body: string, count: number]> => {
    const limits = { path: "a.txt", maxBytes: 1000, deadline: deadlineIn(Number.POSITIVE_INFINITY) };
    const replaced = await engine.replaceInLines(
      Buffer.from(body),
      { pattern, replacement, ignoreCase: false, lines },
      limits,
    );
    return [replaced.body.toString(), replaced.count];
  };

  test.each([
    ["every match", ["x x\nx", ["x", "y"]], ["y y\ny", 3]],
    ["no match over two lines", ["a\nb", ["a\\nb", "c"]], ["a\nb", 0]],
    ["the end of a line behind its newline", ["foo\nfoo", ["foo$", "y"]], ["foo\ny", 1]],
    ["a newline like any other character", ["a \nb", ["\\s+$", ""]], ["ab", 1]],
    ["the start of each line", ["a\nb\n", ["^", "> "]], ["> a\n> b\n", 2]],
    ["empty matches", ["ab\n", ["x*", "-"]], ["-a-b-\n-", 4]],
    ["groups", ["k=v\n", ["(\\w)=(\\w)", "$2=$1$$"]], ["v=k$\n", 1]],
    ["an empty body", ["", ["^", "x"]], ["", 0]],
    ["characters of several bytes", ["日本\n", ["本", "é"]], ["日é\n", 1]],
  ] as const)("replaces %s", async (_, [body, change], expected) => {
    expect(await replace(body, change)).toEqual([...expected]);
  });

  test("replaces the first match in each line", async () => {
    expect(await replace("x x\nx x\n", ["x", "${0}y"], "first")).toEqual(["xy x\nxy x\n", 2]);
  });

  test("stops at the limit", async () => {
    await expect(replace("x\n".repeat(100), ["x", "y".repeat(20)])).rejects.toThrow(
      "larger than max_write_bytes",
    );
  });

  test("does what JavaScript does with plain text, line by line", async () => {
    const body = fc.array(fc.constantFrom("a", "b", "\n", "é"), { maxLength: 40 }).map((all) => all.join(""));
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom("a", "ab", "é"), async (text, literal) => {
        const [replaced, count] = await replace(text, [literal, "<$0>"]);
        expect(replaced).toBe(text.replaceAll(literal, `<${literal}>`));
        expect(count).toBe(text.split(literal).length - 1);
      }),
      { numRuns: 50 },
    );
  });
});
