import { expect, test } from "bun:test";
import { BodyBudget } from "./body-budget.ts";

const small = 64 * 1024;

test("bodies have so many bytes together, and small ones pass by", () => {
  const budget = new BodyBudget(10 * small);
  const [one, other, third] = [budget.open(), budget.open(), budget.open()];
  expect(one.grow(4 * small)).toBe(true);
  expect(other.grow(6 * small)).toBe(true);
  expect(other.grow(1)).toBe(false);
  expect(third.grow(small)).toBe(true);
  expect(third.grow(1)).toBe(false);
});

test("a body that is done with gives back all that it had, once", () => {
  const budget = new BodyBudget(10 * small);
  const one = budget.open();
  for (let count = 0; count < 5; count++) one.grow(2 * small);
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  expect(budget.open().grow(10 * small)).toBe(true);
  expect(budget.open().grow(small + 1)).toBe(false);
});

test("what had no room takes none", () => {
  const budget = new BodyBudget(10 * small);
  expect(budget.open().grow(11 * small)).toBe(false);
  expect(budget.open().grow(10 * small)).toBe(true);
});
