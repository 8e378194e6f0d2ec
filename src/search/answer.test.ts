import { expect, test } from "bun:test";
import fc from "fast-check";
import { SearchAnswerBuilder } from "./answer.ts";

const line = fc.record({
  line: fc.integer({ min: 1, max: 4_294_967_295 }),
  column: fc.integer({ min: 1, max: 12_000 }),
  text: fc.string({ unit: fc.constantFrom("a", '"', "\\", "\t", "\u0001", "é", "€", "🚀", "word ") }),
});
const finding = fc.record({
  index: fc.nat(),
  isInPath: fc.boolean(),
  lines: fc.array(line, { maxLength: 5 }),
});
const limits = fc.record({
  maxMatches: fc.constantFrom(0, 1, 3, 100),
  maxBytes: fc.constantFrom(10, 300, 1000, 1_000_000),
  content: fc.boolean(),
  paths: fc.boolean(),
});

test("an answer has the bytes it tells, and is the same when its lines come one by one", () => {
  fc.assert(
    fc.property(fc.array(finding), limits, (findings, within) => {
      const [together, apart] = [new SearchAnswerBuilder(within), new SearchAnswerBuilder(within)];
      for (const { index, isInPath, lines } of findings) {
        together.add(`a/${index}`, { index, isInPath, lines });
        if (isInPath) apart.add(`a/${index}`, { index, isInPath, lines: [] });
        for (const one of lines) apart.add(`a/${index}`, { index, isInPath: false, lines: [one] });
      }
      const { answer, bytes } = together.render();
      expect(together.render()).toEqual(apart.render());
      expect(Buffer.byteLength(JSON.stringify(answer))).toBe(bytes);
      const isEmpty = answer.content_matches.length + answer.path_matches.length === 0;
      expect(isEmpty || bytes <= within.maxBytes).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
