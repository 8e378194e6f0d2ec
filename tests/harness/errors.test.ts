import { expect, test } from "bun:test";
import { faultsOf, parseError, parseWireError } from "./errors.ts";

const given = { payload: { path: "a.txt" }, root: "/tmp/coder-x" };

test("an error is one line of JSON with the keys in their order", () => {
  const error = { code: "C211", message: "m", reason: "r" };
  expect(parseError('{"code":"C211","message":"m","reason":"r"}')).toEqual(error);
  expect(parseError('{"code":"C211","message":"m","reason":"r","details":{"a":1}}')).toEqual({
    ...error,
    details: { a: 1 },
  });
  expect(parseError('{"code":"C211","message":"m"}')).toBeUndefined();
  expect(parseError('{"message":"m","code":"C211"}')).toBeUndefined();
  expect(parseError('{"code":"C211", "message":"m"}')).toBeUndefined();
  expect(parseError('{"code":"C211","message":"m","path":"a"}')).toBeUndefined();
  expect(parseError("C211: m")).toBeUndefined();
});

test("the client's view of an error is taken apart or refused", () => {
  const message = 'invocation_failed: handler error: {"code":"C211","message":"m","reason":"r"}';
  expect(parseWireError({ code: "invocation_failed", message })).toEqual({
    code: "C211",
    message: "m",
    reason: "r",
  });
  expect(() => parseWireError({ code: "TIMEOUT", message })).toThrow("error form");
  expect(() => parseWireError({ code: "invocation_failed", message: "invocation_failed: m" })).toThrow(
    "error form",
  );
});

test("a message is faulted for leaks, line breaks, brevity and the lack of a next step", () => {
  const good = '"a.txt" is not found, or denied; list its folder with coder::list-folder.';
  expect(faultsOf({ code: "C211", message: good }, given)).toEqual([]);
  expect(faultsOf({ code: "C299", message: good }, given)).toHaveLength(1);
  expect(faultsOf({ code: "C211", message: `${good} /tmp/coder-x/base` }, given)).not.toEqual([]);
  expect(faultsOf({ code: "C211", message: `${good} /proc/self/fd/3` }, given)).not.toEqual([]);
  expect(faultsOf({ code: "C211", message: `${good}\n` }, given)).toHaveLength(1);
  expect(faultsOf({ code: "C211", message: "use it" }, given)).toHaveLength(1);
  expect(
    faultsOf(
      { code: "C211", message: "there is nothing anybody could do about this state of affairs" },
      given,
    ),
  ).toHaveLength(1);
  expect(
    faultsOf({ code: "C216", message: `${good} ENOENT: no such file or directory` }, given),
  ).toHaveLength(1);
});
