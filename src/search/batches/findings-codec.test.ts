import { expect, test } from "bun:test";
import fc from "fast-check";
import { lineMatches } from "./findings.test-kit.ts";
import { decodeFindings, encodeFindings } from "./findings-codec.ts";

test("what is packed comes out as it was", () => {
  const finding = fc.record({
    index: fc.nat(),
    isInPath: fc.boolean(),
    lines: lineMatches(fc.string({ unit: "binary" })),
    count: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(finding), (findings) => {
      expect([...decodeFindings(encodeFindings(findings))]).toEqual(findings);
    }),
  );
});
