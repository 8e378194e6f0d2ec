import { expect, test } from "bun:test";
import { Refusal } from "../base/errors.ts";
import { forwardableCodes, renderShellError, shellCodes, shellMeanings } from "./error-codes.ts";
import { refuseShell } from "./shell-errors.ts";

test("every code of the shell is explained, and no other", () => {
  expect(Object.keys(shellMeanings).sort()).toEqual([...new Set(Object.values(shellCodes))].sort());
});

test("a refusal has a code of this family", () => {
  const refusal = new Refusal("exists", "m");
  expect(renderShellError(refusal)).toEqual({ text: '{"code":"S213","message":"m"}', code: "S213" });
});

test("the refusal of another worker keeps its code", () => {
  expect(renderShellError(refuseShell.forwarded("S002", "(wrapped)", "no such\n sandbox"))).toEqual({
    text: '{"code":"S002","message":"forwarded from engine (wrapped): no such sandbox"}',
    code: "S002",
  });
});

test("an unexpected error is left to the one who catches it", () => {
  expect(renderShellError(new Error("x"))).toBeUndefined();
});

test("what a sandbox answers with can be passed on", () => {
  expect(forwardableCodes.fs).toContain(shellCodes.io);
  expect(forwardableCodes.exec).toContain(shellCodes.io);
});
