import { expect, test } from "bun:test";
import { BodiesTooLarge, BodyBudget } from "./body-budget.ts";

const small = 64 * 1024;

test("bodies have so many bytes together, and small ones pass by", () => {
  const budget = new BodyBudget(10 * small);
  const [one, other, third] = [budget.open(), budget.open(), budget.open()];
  one.grow(4 * small);
  other.grow(6 * small);
  expect(() => other.grow(1)).toThrow(BodiesTooLarge);
  third.grow(small);
  expect(() => third.grow(1)).toThrow(BodiesTooLarge);
});

test("a body that is done with gives back all that it had, once", () => {
  const budget = new BodyBudget(10 * small);
  const one = budget.open();
  for (let count = 0; count < 5; count++) one.grow(2 * small);
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  budget.open().grow(10 * small);
  expect(() => budget.open().grow(small + 1)).toThrow(BodiesTooLarge);
});

test("what had no room takes none", () => {
  const budget = new BodyBudget(10 * small);
  expect(() => budget.open().grow(11 * small)).toThrow(BodiesTooLarge);
  budget.open().grow(10 * small);
});
