import { expect, test } from "bun:test";
import fc from "fast-check";
import { commaBytes, JsonBudget } from "./json-budget.ts";
import { jsonBytes } from "./json-size.ts";

test("a list that only takes what is admitted fits, and is as large as the budget says", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 20, max: 300 }), (items, maxBytes) => {
      const budget = new JsonBudget(maxBytes, jsonBytes({ items: [] }));
      const admitted: unknown[] = [];
      for (const item of items) {
        const bytes = jsonBytes(item) + commaBytes(admitted.length);
        const fits = jsonBytes({ items: [...admitted, item] }) <= maxBytes;
        expect(budget.admit(bytes)).toBe(fits);
        if (fits) admitted.push(item);
      }
      expect(budget.bytes).toBe(Buffer.byteLength(JSON.stringify({ items: admitted })));
      expect(budget.bytesLeft).toBe(maxBytes - budget.bytes);
    }),
  );
});

test("what is added counts also where it does not fit", () => {
  const budget = new JsonBudget(10, 2);
  budget.add(9);
  expect([budget.bytes, budget.bytesLeft, budget.admit(0)]).toEqual([11, -1, false]);
});

test("commas stand between items, however many are added at once", () => {
  fc.assert(
    fc.property(fc.nat(5), fc.nat(5), (present, added) => {
      const bytesOf = (count: number) => jsonBytes(Array.from({ length: count }, () => 0)) - count;
      expect(commaBytes(present, added)).toBe(bytesOf(present + added) - bytesOf(present));
    }),
  );
});
