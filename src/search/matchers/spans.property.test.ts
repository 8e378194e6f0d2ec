/**
 * Matches across lines are those of the engine in the whole text, wherever the prefilter's literals are in
 * the pattern.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { PatternError } from "../../text/regex/regex-runtime.ts";
import { compilers, countSpansIn, plain, rangesIn, rangesInWhole, searchSpansIn } from "./lines.test-kit.ts";

const words = "needle,nEEdle,pin,foo,x,é,ſ,K,7,;,{,}, ,\t".split(",").map((word) => Buffer.from(word));
const ends = ["", "", " ", "\n", "\n", "\n\n", "\r\n", "\r"].map((end) => Buffer.from(end));
/** Text long enough between two candidates that the engine gets their lines one by one. */
const far = ["=;", "x ", "\n", "y\n", "é\r\n"].map((one) => Buffer.from(one.repeat(1100)));
const dense = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(...words, Buffer.from([0xff])) },
        { weight: 1, arbitrary: fc.constantFrom(...far) },
      ),
      fc.constantFrom(...ends),
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.concat(parts.flat()));
const sparse = fc
  .array(fc.tuple(fc.constantFrom(...words.slice(0, 4)), fc.constantFrom(...ends, ...far)), { maxLength: 12 })
  .map((parts) => Buffer.concat(parts.flat()));

const literals = ["needle", "(?:needle|pin)", "(?i:needle)", "x needle", "(?-u:\\b)needle", "pin\\b"];
const gaps = [
  "\\s*",
  "\\s*\\n\\s*",
  "\\n",
  "\\r?\\n",
  ".*\\n",
  "(?:.*\\n){0,2}",
  "(?:.*\\n){12}",
  "[^;]*",
  "[^;x]{0,9}",
  "(?s:.*?)",
  "(?s:.{0,3})",
  "\\W+",
  "$\\s",
  "\\s*^",
  "(?:;|\\n)",
];
const atoms = ["\\w+", "x", "\\{", "^", "$", "\\b", "\\B", "é?", ".", "[^x]", "\\A", "\\z", "7|"];
const part = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...literals) },
  { weight: 3, arbitrary: fc.constantFrom(...gaps) },
  { weight: 2, arbitrary: fc.constantFrom(...atoms) },
);
const sequence = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
const pattern = fc.oneof(
  { weight: 4, arbitrary: sequence },
  { weight: 1, arbitrary: fc.tuple(sequence, sequence).map((branches) => branches.join("|")) },
  { weight: 1, arbitrary: fc.tuple(sequence, sequence).map(([one, other]) => `(?:${one})+${other}`) },
);

test.each([
  [
    "starts in the line of an earlier candidate",
    "\\w+\\s*needle",
    `x needle pin${"\n".repeat(2000)}needle\n`,
  ],
  ["ends behind the lines of an earlier candidate", "needle\\n.*\\n.*x", "needle\nneedle\n;\nx\n"],
  ["ends before a line", "needle\\n$", `needle\nx\nneedle\n\n${";\n".repeat(2000)}needle\n`],
])("a match that %s", (_, source, shown) => {
  const query = { ...plain, pattern: source, regex: true, every: true, multiline: true };
  const bytes = Buffer.from(shown);
  const expected = rangesInWhole(bytes, query);
  expect(rangesIn(searchSpansIn(bytes, query), bytes)).toEqual(expected);
  expect(expected.length).toBeGreaterThan(0);
});

test("the search over lines equals the engine on the whole text", () => {
  fc.assert(
    fc.property(fc.oneof(dense, sparse), pattern, (bytes, source) => {
      const query = { ...plain, pattern: source, regex: true, every: true, multiline: true };
      try {
        compilers[0]?.compile(query);
      } catch (error) {
        fc.pre(!(error instanceof PatternError));
      }
      const expected = rangesInWhole(bytes, query);
      expect(rangesIn(searchSpansIn(bytes, query), bytes)).toEqual(expected);
      expect(countSpansIn(bytes, query)).toBe(expected.length);
    }),
    propertyRuns(150),
  );
});
