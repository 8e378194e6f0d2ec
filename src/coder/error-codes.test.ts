import { expect, test } from "bun:test";
import { Refusal } from "../base/errors.ts";
import { renderCoderError } from "./error-codes.ts";

test("a refusal has a code of this family", () => {
  const refusal = new Refusal("exists", "m");
  expect(renderCoderError(refusal)).toEqual({
    text: '{"code":"C217","message":"m","reason":"already_exists"}',
    code: "C217",
  });
});

test("an unexpected error is left to the one who catches it", () => {
  expect(renderCoderError(new Error("x"))).toBeUndefined();
});
