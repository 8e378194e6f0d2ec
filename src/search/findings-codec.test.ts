import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeFindings, encodeFindings } from "./findings-codec.ts";

test("what is packed comes out as it was", () => {
  const line = fc.record({ line: fc.nat(), column: fc.nat(), text: fc.string({ unit: "binary" }) });
  const finding = fc.record({
    index: fc.nat(),
    isInPath: fc.boolean(),
    lines: fc.array(line, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(finding), (findings) => {
      expect([...decodeFindings(encodeFindings(findings))]).toEqual(findings);
    }),
  );
});
