import { describe, expect, test } from "bun:test";
import { lstatSync } from "node:fs";
import { type Reason, refuse } from "../../base/errors.ts";
import { errnoOf, refusalOfErrno } from "./errno.ts";

const errno = (code: string) => Object.assign(new Error(`${code}: /host/path failed`), { code });

describe("each errno has its refusal", () => {
  const table: [string, Reason][] = [
    ["ENOENT", "missing"],
    ["ENOTDIR", "missing"],
    ["ELOOP", "outside"],
    ["EACCES", "permission"],
    ["EPERM", "permission"],
    ["EROFS", "io"],
    ["ENOSPC", "io"],
    ["EDQUOT", "io"],
    ["EMFILE", "io"],
    ["ENFILE", "io"],
    ["EIO", "io"],
    ["ENOTEMPTY", "not-empty"],
    ["EISDIR", "wrong-kind"],
    ["ENAMETOOLONG", "bad-input"],
    ["EWHATEVER", "io"],
  ];
  test.each(table)("%s", (code, reason) => {
    const refusal = refusalOfErrno(errno(code), "asked.txt");
    expect(refusal.reason).toBe(reason);
    expect(refusal.message).toContain("asked.txt");
    expect(refusal.message).not.toContain("/host");
  });
});

test("too many open files is not a missing file", () => {
  expect(refusalOfErrno(errno("EMFILE"), "a").message).not.toBe(refuse.absent("a", "missing").message);
});

test("refusals pass, and what is no errno is thrown on", () => {
  const refusal = refuse.emptyPath();
  expect(refusalOfErrno(refusal, "a")).toBe(refusal);
  expect(() => refusalOfErrno(new TypeError("a mistake"), "a")).toThrow("a mistake");
  expect(() => refusalOfErrno(Object.assign(new Error("x"), { code: "ERR_INVALID_ARG_TYPE" }), "a")).toThrow(
    "x",
  );
});

test("errors of node:fs are known by their errno", () => {
  try {
    lstatSync("/nowhere/at/all");
    expect.unreachable();
  } catch (error) {
    expect(errnoOf(error)).toBe("ENOENT");
  }
});
