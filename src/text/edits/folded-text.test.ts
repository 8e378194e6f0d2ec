import { expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { foldText } from "./folded-text.ts";

test("the offset of a folded byte is found near it, however many blanks precede it", () => {
  const blanks = " ".repeat(500_000);
  const text = Buffer.from(`a${blanks}b${"c".repeat(1000)}${blanks}d${blanks}`);
  let reads = 0;
  const counted = new Proxy(text, {
    get(target, name) {
      reads++;
      return Reflect.get(target, name, target);
    },
  });
  const folded = runAtOnce(foldText(counted));
  expect(Buffer.from(folded.bytes).toString()).toBe(`ab${"c".repeat(1000)}d`);
  reads = 0;
  const offsets = [0, 1, 2, 257, 1001, 1002].map((index) => folded.offsetOf(index));
  expect(offsets).toEqual([0, 500_001, 500_002, 500_257, 501_001, 1_001_002]);
  expect(folded.offsetOf(1003)).toBe(text.length);
  // One step of the text is read for each, byte by byte.
  expect(reads).toBeLessThan(7 * 4 * 65_536);
});
