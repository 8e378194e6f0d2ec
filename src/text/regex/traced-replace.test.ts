import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { createRegexEngine } from "./rust-regex.ts";

describe("replaceTraced", () => {
  const engine = createRegexEngine();
  afterAll(() => engine.close());

  const limits = (maxBytes: number) => ({
    path: "a.txt",
    maxBytes,
    deadline: deadlineIn(Number.POSITIVE_INFINITY),
  });
  const trace = (body: string, [pattern, replacement]: readonly [string, string], maxBytes = 10_000) =>
    engine.replaceTraced(
      Buffer.from(body),
      { pattern, replacement, ignoreCase: false, strict: true },
      limits(maxBytes),
    );

  test("returns the places of the matches", async () => {
    const { body, count, ranges } = await trace("né one n1", ["n(\\w)", "$1-"]);
    expect([body.toString(), count]).toEqual(["é- oe- 1-", 3]);
    expect(ranges).toEqual([
      { from: 0, to: 3, length: 3 },
      { from: 5, to: 7, length: 2 },
      { from: 8, to: 10, length: 2 },
    ]);
  });

  test("ends a name of a group, and a lone dollar sign, where they end", async () => {
    expect((await trace("ab", ["(?<n>a)", "$n"])).body.toString()).toBe("ab");
    expect((await trace("ab", ["a", "$"])).body.toString()).toBe("$b");
  });

  test("takes a mark that is in neither text", async () => {
    const marks = String.fromCharCode(0xfdd0, 0xfdd1);
    const { body, ranges } = await trace(`a${marks}`, ["a", "b\ufdd2"]);
    expect([body.toString(), ranges?.length]).toEqual([`b\ufdd2${marks}`, 1]);
  });

  test("counts where it cannot mark", async () => {
    const every = String.fromCharCode(...Array.from({ length: 32 }, (_, n) => 0xfdd0 + n));
    const { body, count, ranges } = await trace(`aa${every}`, ["a", "b"]);
    expect([body.toString(), count, ranges]).toEqual([`bb${every}`, 2, undefined]);
  });

  test("counts where marks would take too much memory", async () => {
    const size = 2 * 1024 * 1024;
    const { body, count, ranges } = await trace("a".repeat(size), ["a", "b"], size);
    expect([body.length, body.includes("a"), count, ranges]).toEqual([size, false, size, undefined]);
  });

  test("joins ranges past ten thousand", async () => {
    const { count, ranges } = await trace("ab".repeat(10_003), ["a", "xyz"], 100_000);
    expect([count, ranges?.length]).toEqual([10_003, 10_001]);
    expect(ranges?.at(-1)).toEqual({ from: 20_000, to: 20_005, length: 11 });
  });

  test("refuses a result that is too large", async () => {
    const refused = trace("aaaa", ["a", "bbbb"], 10);
    expect(refused).rejects.toMatchObject({ reason: "too-large" });
    await refused.catch(() => {});
  });

  test("a dot matches a newline where it shall", async () => {
    const replacement = { pattern: "a.B", replacement: "x", ignoreCase: true, dotMatchesNewline: true };
    const { body } = await engine.replaceTraced(Buffer.from("A\nb a b"), replacement, limits(100));
    expect(body.toString()).toBe("x x");
  });

  test("does what replaceAll does, and its ranges lead from one text to the other", async () => {
    const pattern = fc.constantFrom("a", "a*", "b|^", "$", "(a)(b)?", "\\b", ".", "é", "x");
    const replacement = fc.constantFrom("", "$0", "x", "[$0]", "$$", "é", "$");
    const text = fc
      .array(fc.constantFrom("a", "b", "\n", "é", " "), { maxLength: 30 })
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(text, pattern, replacement, async (body, ...change) => {
        const traced = await trace(body, change);
        const options = { pattern: change[0], replacement: change[1], ignoreCase: false };
        const plain = await engine.replaceAll(Buffer.from(body), options, limits(10_000));
        expect(traced.body.equals(plain)).toBe(true);
        expect(traced.count).toBe(traced.ranges!.length);
        let [rebuilt, from, at] = ["", 0, 0];
        for (const range of traced.ranges!) {
          const kept = Buffer.from(body).toString("latin1", from, range.from);
          rebuilt += kept + plain.toString("latin1", at + kept.length, at + kept.length + range.length);
          at += kept.length + range.length;
          from = range.to;
        }
        expect(rebuilt + Buffer.from(body).toString("latin1", from)).toBe(plain.toString("latin1"));
      }),
      propertyRuns(450),
    );
  });
});
