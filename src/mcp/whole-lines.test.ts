import { expect, test } from "bun:test";
import fc from "fast-check";
import { wholeLines } from "./whole-lines.ts";

/** What comes out for these pieces. */
async function through(pieces: readonly string[], maxBytes: number): Promise<string[]> {
  const stream = wholeLines(maxBytes);
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return (await stream.toArray()).map(String);
}

test("gives on whole lines, all of them and in order", async () => {
  const text = fc.array(fc.constantFrom("a", "\n", "é"), { maxLength: 8 }).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(text), async (pieces) => {
      const whole = await through(pieces, 1000);
      const all = pieces.join("");
      expect(whole.join("")).toBe(all.slice(0, all.lastIndexOf("\n") + 1));
      for (const lines of whole) expect(lines).toEndWith("\n");
    }),
  );
});

test("does not hold more than a message may have", async () => {
  expect(await through(["aa", "bb", "cc", "d\n"], 4)).toEqual(["aabbcc", "d\n"]);
});
