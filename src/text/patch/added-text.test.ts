import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { addedText } from "./added-text.ts";
import { parse } from "./patch.test-kit.ts";

test("a long added line is decoded in pieces that split no character", () => {
  const line = `+x${"ж".repeat(500_000)}`;
  const { lines, files } = parse(`--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n${line}\n`);
  const pieces = runAtOnce(addedText(lines, files[0]!));
  expect(pieces.join("")).toBe(`${line}\n`);
  expect(pieces.length).toBe(8);
});
