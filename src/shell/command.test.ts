import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../base/scheduling/time-slice.ts";
import { argvOf, parseCommand, resolveTimeout } from "./command.ts";
import { PlainRefusal } from "./programs/plain-refusal.ts";
import { refuseShell } from "./shell-errors.ts";

const parse = (payload: unknown) => runAtOnce(parseCommand(payload, refuseShell.notStarted));

test("what is left out has its default", () => {
  expect(parse({ command: "ls" })).toEqual({
    command: "ls",
    args: null,
    timeout_ms: null,
    target: { kind: "host" },
  });
});

test("fields that it does not know are left out", () => {
  expect(parse({ command: "ls", args: [], more: "/", _caller_worker_id: "x" })).toEqual({
    command: "ls",
    args: [],
    timeout_ms: null,
    target: { kind: "host" },
  });
});

test("a sandbox is named in lower case with hyphens", () => {
  const target = { kind: "sandbox", sandbox_id: "{0A1B2C3D-4E5F-4071-8293-A4B5C6D7E8F9}" };
  expect(parse({ command: "ls", target }).target).toEqual({
    kind: "sandbox",
    sandbox_id: "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9",
  });
});

describe("timeout_ms", () => {
  test.each([0, 1, 5000, 2 ** 53, 2 ** 63])("%d counts", (timeout_ms) => {
    expect(parse({ command: "ls", timeout_ms }).timeout_ms).toBe(timeout_ms);
  });

  test.each([-1, 1.5, 2 ** 64, 1e300, "500", true, {}, null])("%j counts as absent", (timeout_ms) => {
    expect(parse({ command: "ls", timeout_ms }).timeout_ms).toBeNull();
  });

  test("is cut to the most, and so is the default", () => {
    const config = { default_timeout_ms: 10_000, max_timeout_ms: 5000 };
    expect(resolveTimeout({ timeout_ms: 60_000 }, config)).toBe(5000);
    expect(resolveTimeout({ timeout_ms: null }, config)).toBe(5000);
    expect(resolveTimeout({ timeout_ms: 0 }, config)).toBe(0);
  });
});

test("half of a surrogate pair is refused: no frame could carry it back", () => {
  expect(() => parse({ command: "\ud83d" })).toThrow("'command' holds half");
  expect(() => parse({ command: "ls", args: ["a", "\udc00"] })).toThrow("'args[1]' holds half");
});

test("whatever comes, it is a command or a plain refusal", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.record({ command: fc.string(), args: fc.jsonValue() })),
      (payload) => {
        try {
          expect(typeof parse(payload).command).toBe("string");
        } catch (error) {
          expect(error).toBeInstanceOf(PlainRefusal);
        }
      },
    ),
  );
});

test("a program gets at most 20,000 arguments", () => {
  const args = (count: number) => ({ command: "ls", args: Array(count).fill("a") });
  expect(parse(args(20_000)).args).toHaveLength(20_000);
  expect(() => parse(args(20_001))).toThrow("'args' has 20001 entries, and may have 20000; send fewer.");
});

test("a line has at most as many words as a program and its arguments", () => {
  const line = (words: number) => argvOf({ command: "a ".repeat(words), args: null });
  expect(line(20_001)).toHaveLength(20_001);
  expect(() => line(20_002)).toThrow("'command' is a line of more than 20001 words");
});

test("a line has at most 524,288 characters", () => {
  expect(parse({ command: " ".repeat(524_288) }).command).toHaveLength(524_288);
  expect(() => parse({ command: " ".repeat(524_289) })).toThrow(
    "has 524289 characters, and may have 524288;",
  );
});

test("all arguments together have at most 524,288 bytes", () => {
  const args = (last: number) => ["a".repeat(500_000), "a".repeat(last)];
  expect(parse({ command: "ls", args: args(24_286) }).args).toHaveLength(2);
  expect(() => parse({ command: "ls", args: args(24_287) })).toThrow(
    "host exec: spawn: the arguments are longer than a program can be given, which is at most 131071 bytes for one and 524288 for all; send fewer",
  );
});
