import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { createCodec } from "../encodings/codec.ts";
import { encodingsThatSplit } from "./split-characters.ts";
import { findMatches } from "./str-replace.ts";

const alphabets = {
  shift_jis: "ソ表能十ストカ予 aXg\\",
  gb18030: "丂乗亀仩€￥中 aXg0",
  big5: "功許蓋一乙丁 aXg\\",
  "euc-kr": "갂갃갅갋한글 aXg",
};
const matchesIn = (body: Buffer, needle: string) =>
  runAtOnce(findMatches(body, { old_str: needle, new_str: "", replace_all: true }));

test.each(Object.entries(alphabets))(
  "no match inside a character of %s is taken for one",
  (encoding, letters) => {
    const codec = createCodec(encoding);
    const texts = fc
      .array(fc.constantFrom(...letters, "\n"), { maxLength: 30 })
      .map((parts) => parts.join(""));
    let splits = 0;
    fc.assert(
      fc.property(texts, fc.constantFrom("X", "a", "g", "A", "B", "\\", "0", "e", "aX"), (text, needle) => {
        const body = Buffer.from(codec.encode(text));
        const matches = matchesIn(body, needle);
        const inText = matchesIn(Buffer.from(text), needle).count;
        const found = runAtOnce(encodingsThatSplit(body, matches));
        if (inText < matches.count) splits++;
        if (!found.includes(encoding)) expect(inText).toBe(matches.count);
      }),
      { numRuns: 2000, examples: encoding === "euc-kr" ? [["글갃글글글갂", "B"]] : [] },
    );
    expect(splits).toBeGreaterThan(0);
  },
);

test("a text in UTF-8 with a few invalid bytes is not suspected", () => {
  const body = Buffer.concat([Buffer.from("中X 한글X ス\n".repeat(20)), Buffer.of(0xe9, 0x0a)]);
  for (const needle of ["X", "X ", "\n", "한"])
    expect(runAtOnce(encodingsThatSplit(body, matchesIn(body, needle)))).toEqual([]);
});

test("a text with characters of one byte is not suspected", () => {
  const body = Buffer.from("d\xe9j\xe0 vu, caf\xe9 cr\xe8me\n", "latin1");
  for (const needle of ["vu", " vu", "j", ", ", "me", "\n"])
    expect(runAtOnce(encodingsThatSplit(body, matchesIn(body, needle)))).toEqual([]);
});
