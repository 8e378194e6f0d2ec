import { expect, test } from "bun:test";
import { expandPayload } from "../harness/tree.ts";
import { compareAnswer, errorWith, payloadOf, textWith } from "./case.ts";

test("answers are compared exactly, except where a matcher stands", () => {
  expect(compareAnswer({ a: [1, { b: "x" }] }, { a: [1, { b: "x" }] })).toEqual([]);
  expect(compareAnswer({ a: 1, b: 2 }, { a: 1 })).toEqual(["answer.b is 2, should be undefined"]);
  expect(compareAnswer({ a: 1 }, { a: 1, b: null })).toEqual(["answer.b is undefined, should be null"]);
  expect(compareAnswer({ a: [] }, { a: {} })).toHaveLength(1);
  expect(compareAnswer({ a: "use b" }, { a: textWith("use", "b") })).toEqual([]);
  expect(compareAnswer({ a: "use" }, { a: textWith("use", "b") })).toHaveLength(1);
});

test("the error of an entry is compared by code and words", () => {
  const error = '{"code":"C211","message":"not found","reason":"no_such_path"}';
  expect(errorWith("C211", "found").matches(error)).toBe(true);
  expect(errorWith("C211", "lost").matches(error)).toBe(false);
  expect(errorWith("C210").matches(error)).toBe(false);
});

test("payloads keep a key named __proto__ and get the base folder's path", () => {
  const payload = expandPayload(payloadOf('{"__proto__":{"a":1},"path":"<base>/a"}'), "/base");
  expect(JSON.stringify(payload)).toBe('{"__proto__":{"a":1},"path":"/base/a"}');
});
