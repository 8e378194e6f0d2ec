import { expect, test } from "bun:test";
import { requireNoShortage, ShortageError, shortageIn } from "./shortage.ts";

test.each([24, -24])("errno %p is a shortage", (errno) => {
  expect(() => requireNoShortage(errno)).toThrow(new ShortageError("EMFILE"));
});

test.each([undefined, 0, 1, 38, -22])("errno %p is none", (errno) => {
  expect(() => requireNoShortage(errno)).not.toThrow();
});

test("only errors of a shortage have its code", () => {
  expect(shortageIn(new ShortageError("EAGAIN"))).toBe("EAGAIN");
  expect(shortageIn(Object.assign(new Error(), { code: "ENFILE" }))).toBe("ENFILE");
  for (const other of [undefined, new Error("x"), Object.assign(new Error(), { code: "EPERM" })])
    expect(shortageIn(other)).toBeUndefined();
});
