import { expect, test } from "bun:test";
import fc from "fast-check";
import { lineMatches } from "../batches/findings.test-kit.ts";
import type { PageFields } from "../request.ts";
import { SearchAnswerBuilder } from "./answer.ts";

const text = fc.string({ unit: fc.constantFrom("a", '"', "\\", "\t", "\u0001", "é", "€", "🚀", "word ") });
const finding = fc.record({
  index: fc.nat(),
  isInPath: fc.boolean(),
  lines: lineMatches(text),
  count: fc.constantFrom(0, 1, 12_345),
});
const limits = fc.record({
  maxMatches: fc.constantFrom(0, 1, 3, 100),
  maxBytes: fc.constantFrom(10, 300, 1000, 1_000_000),
  content: fc.boolean(),
  paths: fc.boolean(),
  lines: fc.record({ mode: fc.constantFrom("content" as const, "files" as const, "counts" as const) }),
  isExtended: fc.boolean(),
});
/** The fields of a page, as `ResultPage` makes them. */
const page: PageFields = {
  next_cursor: "x",
  searched: { bytes: 1, files: 1 },
  skipped: { binary: 0, excluded: 0, long_lines: 0, too_large: 0, unreadable: 0 },
  stopped_by: "deadline",
};

test("an answer has the bytes it tells, and is the same when its lines come one by one", () => {
  fc.assert(
    fc.property(fc.array(finding), limits, (findings, within) => {
      const [together, apart] = [new SearchAnswerBuilder(within), new SearchAnswerBuilder(within)];
      for (const { index, isInPath, ...found } of findings) {
        const { lines, count } =
          within.lines.mode === "content" ? { ...found, count: 0 } : { lines: [], count: found.count };
        together.add(`a/${index}`, { index, isInPath, lines, count });
        if (isInPath) apart.add(`a/${index}`, { index, isInPath, lines: [], count: 0 });
        if (count > 0) apart.add(`a/${index}`, { index, isInPath: false, lines: [], count });
        for (const one of lines) apart.add(`a/${index}`, { index, isInPath: false, lines: [one], count: 0 });
      }
      const { answer, bytes } = together.render();
      expect(together.render()).toEqual(apart.render());
      expect(Buffer.byteLength(JSON.stringify(answer))).toBe(bytes);
      const isEmpty =
        answer.content_matches.length + answer.path_matches.length + (answer.files ?? []).length === 0;
      expect(isEmpty || bytes <= within.maxBytes).toBe(true);
      for (const rendered of [answer, together.render(page).answer])
        expect(JSON.stringify(rendered)).toBe(JSON.stringify(rendered, withSortedKeys));
    }),
    { numRuns: 1000 },
  );
});

/** Sorts keys, as a replacer for `JSON.stringify`. */
function withSortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
