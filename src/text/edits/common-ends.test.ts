import { expect, test } from "bun:test";
import fc from "fast-check";
import { commonEnd, commonStart } from "./common-ends.ts";

test("the common bytes are those that are equal one by one, in short and in long texts", () => {
  const text = fc
    .tuple(fc.nat(9000), fc.string({ maxLength: 3 }))
    .map(([size, end]) => "x".repeat(size) + end);
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [a, b] = [Buffer.from(one), Buffer.from(other)];
      const firstDiffering = (left: Buffer, right: Buffer) => {
        let at = 0;
        while (at < Math.min(left.length, right.length) && left[at] === right[at]) at++;
        return at;
      };
      expect(commonStart(a, b)).toBe(firstDiffering(a, b));
      expect(commonEnd(a, b)).toBe(firstDiffering(Buffer.from(a).reverse(), Buffer.from(b).reverse()));
    }),
  );
});
