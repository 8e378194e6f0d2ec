import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Finding } from "./files.ts";
import { lineMatches } from "./findings.test-kit.ts";
import { decodeFindings, type EncodedFindings, encodeFindings, partLength } from "./findings-codec.ts";

test("what is packed comes out as it was", () => {
  const finding = fc.record({
    index: fc.nat(),
    isInPath: fc.boolean(),
    lines: lineMatches(fc.string({ unit: "binary" })),
    count: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(finding), (findings) => {
      expect(wholeFindings(encodeFindings(findings))).toEqual(findings);
    }),
  );
});

/** Puts the parts of findings together. */
function wholeFindings(encoded: EncodedFindings): Finding[] {
  const whole: Finding[] = [];
  let isNew = true;
  for (const { part, isLast } of decodeFindings(encoded)) {
    if (isNew) whole.push(part);
    else whole.push(withLines(whole.pop()!, part.lines));
    isNew = isLast;
  }
  return whole;
}

const withLines = (finding: Finding, lines: Finding["lines"]): Finding => ({
  ...finding,
  lines: [...finding.lines, ...lines],
});

test.each([0, 1, partLength, partLength + 1, 3 * partLength])("%i lines come in parts", (length) => {
  const lines = Array.from({ length }, (_, at) => ({ line: at + 1, column: 1, text: `${at}é` }));
  const finding = { index: 3, isInPath: true, lines, count: 7, matches: 9 };
  const encoded = encodeFindings([finding, finding]);
  expect(wholeFindings(encoded)).toEqual([finding, finding]);
  const parts = [...decodeFindings(encoded)];
  expect(parts.map(({ part }) => part.count)).toEqual(
    parts.map((_, at) => ((parts[at - 1]?.isLast ?? true) ? 7 : 0)),
  );
  expect(Math.max(...parts.map(({ part }) => part.lines.length))).toBe(Math.min(length, partLength));
});
