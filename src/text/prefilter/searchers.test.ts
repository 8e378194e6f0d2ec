import { expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { literalPrefilter } from "./prefilter.ts";

/** Returns the offsets at which a literal is found, and the calls of `indexOf` in the text. */
function findAll(literal: string, content: string) {
  const prefilter = literalPrefilter(literal, undefined);
  const { length } = content;
  const text = Buffer.concat([Buffer.from(`${content}\n`), Buffer.alloc(prefilter.slack + 1)]);
  const searching = spyOn(text, "indexOf");
  prefilter.prepare(text, length);
  const found: number[] = [];
  for (let at = prefilter.next(text, 0, length); at >= 0; at = prefilter.next(text, at + 1, length)) {
    expect(prefilter.end).toBe(at + literal.length);
    found.push(at);
  }
  return { found, calls: searching.mock.calls.length };
}

test("a literal whose rarest byte stands everywhere is searched for as a whole", () => {
  const content = `${"q".repeat(100_000)}eq${"q".repeat(100_000)}`;
  const { found, calls } = findAll("eq", content);
  expect(found).toEqual([100_000]);
  expect(calls).toBeLessThan(300);
});

test("a literal is found wherever it stands, however often parts of it do", () => {
  const part = fc.constantFrom("q".repeat(70), "qe", "eq", "e", "qq", "eqe");
  const literal = fc.constantFrom("eq", "eqe", "qe", `e${"q".repeat(60)}`, `${"eq".repeat(150)}`);
  fc.assert(
    fc.property(literal, fc.array(part, { maxLength: 12 }), fc.boolean(), (literal, parts, ends) => {
      const content = parts.join("") + (ends ? literal : "");
      const expected: number[] = [];
      for (let at = content.indexOf(literal); at >= 0; at = content.indexOf(literal, at + 1))
        expected.push(at);
      expect(findAll(literal, content).found).toEqual(expected);
    }),
  );
});
