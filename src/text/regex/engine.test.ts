import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Refusal, refuse } from "../../base/errors.ts";
import { type Deadline, deadlineIn } from "../../base/scheduling/deadline.ts";
import { createRegexEngine, type RegexEngine } from "./rust-regex.ts";

const maxBytes = 1024 * 1024;

/** Returns the refusal that `promise` rejects with. */
async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof Refusal) return error;
  throw new Error(`no refusal: ${error}`);
}

describe.each(["in a thread", "without threads"])("replaceAll %s", (where) => {
  let engine: RegexEngine;

  beforeAll(() => {
    engine = createRegexEngine({ threads: where !== "without threads" });
  });

  afterAll(async () => {
    await engine.close();
  });

  const replaceBytes = (body: Buffer, pattern: string, replacement: string, ignoreCase = false) => {
    const limits = { path: "a.txt", maxBytes, deadline: deadlineIn(Number.POSITIVE_INFINITY) };
    return engine.replaceAll(body, { pattern, replacement, ignoreCase }, limits);
  };
  const replace = async (body: string, pattern: string, replacement: string, ignoreCase = false) =>
    (await replaceBytes(Buffer.from(body), pattern, replacement, ignoreCase)).toString();

  test.each([
    ["every match, from left to right", ["a1b22c", "\\d+", "#", "a#b#c"]],
    ["the first alternative that matches", ["samwise", "sam|samwise", "x", "xwise"]],
    ["empty matches", ["abc", "", "-", "-a-b-c-"]],
    ["no empty match right behind a match", ["baac", "a*", "x", "xbxcx"]],
    ["a whole character between empty matches", ["é𝒳", "", "|", "|é|𝒳|"]],
    ["groups by number", ["k=v", "(\\w)=(\\w)", "$2=$1", "v=k"]],
    ["groups by name", ["k=v", "(?P<key>\\w)=(?<value>\\w)", "${value}:$key", "v:k"]],
    ["the longest name without braces", ["ab", "(a)(b)", "$1x|${1}x", "|ax"]],
    ["the match and a dollar sign", ["ab", "a", "[$0$$]", "[a$]b"]],
    ["groups that are not there as nothing", ["ab", "(a)|(z)", "<$2$9$nope>", "<>b"]],
    ["a dollar sign that names nothing", ["a", "a", "$ $- $", "$ $- $"]],
    ["lines with (?m)", ["a\nb\n", "(?m)^", "> ", "> a\n> b\n> "]],
    ["Unicode classes", ["wörd_1 ж", "\\w+", "x", "x x"]],
    ["patterns that span lines", ["a\nb", "a\\nb", "c", "c"]],
  ] as const)("replaces %s", async (_, [body, pattern, replacement, expected]) => {
    expect(await replace(body, pattern, replacement)).toBe(expected);
  });

  test("ignores case as Unicode folds it", async () => {
    expect(await replace("\u212a\u017f KS ЖУК", "ks|жук", "-", true)).toBe("- - -");
  });

  test("answers an unchanged body with the same Buffer", async () => {
    const body = Buffer.from("same");
    expect(await replaceBytes(body, "x", "y")).toBe(body);
    expect(await replaceBytes(body, "(a)", "$1")).toBe(body);
  });

  test("leaves the Buffer it was given alone", async () => {
    const body = Buffer.from("one two").subarray(4);
    expect((await replaceBytes(body, "t", "T")).toString()).toBe("Two");
    expect(body.toString()).toBe("two");
  });

  test("tells what is wrong with a pattern in the engine's words, on one line", async () => {
    const lookahead = await refusalOf(replace("", "a(?=b)", ""));
    expect(lookahead.reason).toBe("bad-pattern");
    expect(lookahead.message).toContain('"a(?=b)" is not valid: look-around, including look-ahead');
    expect((await refusalOf(replace("", "(?x)\n(a", ""))).message).toContain("unclosed group");
    expect((await refusalOf(replace("", "a{99999}{999}", ""))).message).toContain("size limit");
    expect((await refusalOf(replace("", "a".repeat(100_000), ""))).reason).toBe("bad-pattern");
    expect((await refusalOf(replace("", "\ud800", ""))).reason).toBe("bad-pattern");
  });

  test("refuses a result over the limit, whatever its size, and goes on", async () => {
    const body = Buffer.alloc(maxBytes, "a");
    for (const replacement of ["ab", "x".repeat(10_000)]) {
      const refusal = await refusalOf(replaceBytes(body, "a", replacement));
      expect(refusal.reason).toBe("too-large");
      expect(refusal.message).toContain('"a.txt"');
    }
    expect((await replaceBytes(body, "a", "b")).equals(Buffer.alloc(maxBytes, "b"))).toBe(true);
  });

  test.each([1024, 60_000, maxBytes - 10, maxBytes])(
    "gives a result that just fits, of %i bytes",
    async (size) => {
      const body = Buffer.alloc(size, "a");
      const fill = "x".repeat(maxBytes - size + 1);
      expect((await replaceBytes(body, "^(a)", fill)).length).toBe(maxBytes);
      expect((await refusalOf(replaceBytes(body, "^(a)", `${fill}x`))).reason).toBe("too-large");
    },
  );

  test("gives a result that just fits, of many pieces", async () => {
    const body = Buffer.alloc(maxBytes / 16, "a");
    expect((await replaceBytes(body, "(?i)(\\w)", "$1".repeat(16))).length).toBe(maxBytes);
    expect((await refusalOf(replaceBytes(body, "(?i)(\\w)", "$1".repeat(17)))).reason).toBe("too-large");
  });

  test("equals a replacement put together from single matches", async () => {
    const word = fc.constantFrom("a", "b", "ab", "é", "\n", " ", "𝒳", "");
    const text = fc.array(word, { maxLength: 20 }).map((words) => words.join(""));
    const pattern = fc.constantFrom("a", "ab|a", "\\w", "[^a]", "a+?", "b*c?b", "é|𝒳", "\\s+");
    await fc.assert(
      fc.asyncProperty(text, pattern, async (body, source) => {
        expect(await replace(body, source, "<$0>")).toBe(replaceOneByOne(engine, body, source));
      }),
      // Without threads, each call makes an instance of the engine.
      { numRuns: where === "in a thread" ? 100 : 20 },
    );
  });
});

/** Replaces matches one by one. Only for patterns that depend on nothing outside the match. */
function replaceOneByOne(engine: RegexEngine, body: string, pattern: string): string {
  const bytes = Buffer.from(body);
  const regex = engine.runtime.compile(pattern);
  const whole = engine.runtime.compile(`\\A(?:${pattern})`);
  let result = "";
  for (let at = 0; at < bytes.length; ) {
    const start = regex.find(bytes, at, bytes.length);
    if (start < 0) return result + bytes.toString("utf8", at);
    const [match = ""] = [
      whole
        .replaceAll(bytes.subarray(at + start), "$0\0")
        .toString()
        .split("\0")[0],
    ];
    if (match === "") return body;
    result += `${bytes.toString("utf8", at, at + start)}<${match}>`;
    at += start + Buffer.byteLength(match);
  }
  return result;
}

test("a replacement that takes too long ends at the deadline, and the next one works", async () => {
  const engine = createRegexEngine();
  const body = Buffer.alloc(maxBytes, "ab");
  const limits = { path: "a.txt", maxBytes, deadline: deadlineIn(300) };
  const slow = { pattern: "(?:a|b|ab|ba){1,20000}c|[ab]{1,20000}d", replacement: "", ignoreCase: false };
  expect((await refusalOf(engine.replaceAll(body, slow, limits))).reason).toBe("timeout");
  const quick = { pattern: "b", replacement: "", ignoreCase: false };
  const replaced = await engine.replaceAll(body, quick, {
    ...limits,
    deadline: deadlineIn(Number.POSITIVE_INFINITY),
  });
  expect(replaced.equals(Buffer.alloc(maxBytes / 2, "a"))).toBe(true);
  await engine.close();
});

test("a replacement ends when its deadline's signal says so, though the clock has some time left", async () => {
  const engine = createRegexEngine();
  const controller = new AbortController();
  const { signal } = controller;
  const deadline: Deadline = {
    milliseconds: 20_000,
    left: 1,
    spent: 0,
    refusal: refuse.timeout(20_000),
    signal,
    check() {},
    restart() {},
    suspend() {},
    end() {},
  };
  const change = { pattern: ".*z|a", replacement: "", ignoreCase: false };
  const limits = { path: "a.txt", maxBytes, deadline };
  const replaced = engine.replaceAll(Buffer.alloc(maxBytes, "a"), change, limits);
  controller.abort(refuse.timeout(1));
  expect((await refusalOf(replaced)).reason).toBe("timeout");
  await engine.close();
});
