import { expect, test } from "bun:test";
import { hintsFor, hintsOnLimits, hintsOnUnicode, type QueryFields } from "./hints.ts";

const literal = '"regex": true would read it as a pattern';
const lines = '"multiline": true would match across lines';
const exactCase = '"ignore_case": true would ignore case';
const contents = '"search_paths": true would search paths too';
const links = "links are not among the paths that are searched";
const utf8 = '"encoding" would search files in another than UTF-8, such as "windows-1252"';

const plain = { regex: false, ignore_case: false, search_content: true, search_paths: false };

const cases: readonly (readonly [Partial<QueryFields> & { query: string }, readonly string[]])[] = [
  [{ query: "123" }, []],
  [{ query: "foo bar" }, []],
  [{ query: "FOO BAR" }, []],
  [{ query: "Foo bar" }, [exactCase]],
  [{ query: "Foo bar", ignore_case: true }, []],
  [{ query: "caf\u00e9", ignore_case: true }, [utf8]],
  [{ query: "caf\u00e9", ignore_case: true, encoding: "latin1" }, []],
  [{ query: "caf\u00e9", ignore_case: true, search_content: false }, [links]],
  [{ query: "foo.*", invert: true }, []],
  [{ query: "foo.*", files_without_match: true }, []],
  [{ query: "FOO.*bar" }, [literal, exactCase]],
  [{ query: "1|2" }, [literal]],
  [{ query: "\\d{3}", ignore_case: true }, [literal]],
  [{ query: "^x$", ignore_case: true }, [literal]],
  [{ query: "[a-z]+", ignore_case: true }, [literal]],
  [{ query: "1.*", regex: true }, []],
  [{ query: "\\w\\d\\p{L}", regex: true }, []],
  [{ query: "1", patterns: ["2", "a+?(b)?"], ignore_case: true }, [literal]],
  [{ query: "1\n2" }, [lines]],
  [{ query: "1\n2", multiline: true }, []],
  [{ query: "1\n2", search_content: false }, [links]],
  [{ query: "1\\n2", regex: true }, [lines]],
  [{ query: "1\\\\n2", regex: true }, []],
  [{ query: "total(items[0])", ignore_case: true }, []],
  [{ query: "a || b", ignore_case: true }, []],
  [{ query: "$1.00", ignore_case: true }, []],
  [{ query: "main.ts", ignore_case: true }, [contents]],
  [{ query: "src/main", ignore_case: true }, [contents]],
  [{ query: "main.ts", ignore_case: true, search_paths: true }, []],
  [{ query: "main.ts", ignore_case: true, search_content: false }, [links]],
  [{ query: "readme", search_content: false }, [exactCase, links]],
  [{ query: "e.g. this", ignore_case: true }, []],
];

test.each(cases)("%j: %j", (request, hints) => {
  expect(hintsFor({ ...plain, ...request })).toEqual([...hints]);
});

test.each(["[", "a/", "[a-a", "\\", "(?!"])(
  "a query of many %j takes no longer than its beginning",
  (part) => {
    const query = part.repeat(1_000_000);
    const start = query.slice(0, 256);
    for (const regex of [false, true])
      expect(hintsFor({ ...plain, query, regex })).toEqual(hintsFor({ ...plain, query: start, regex }));
    expect(hintsFor({ ...plain, query: "1", patterns: Array(100_000).fill(query) })).toEqual(
      hintsFor({ ...plain, query: "1", patterns: [start] }),
    );
  },
);

test.each([
  ["caf\u00e9", {}, '"cafe\\u0301"'],
  ["cafe\u0301", {}, '"caf\\u00e9"'],
  ["\u00e9", { patterns: ["a", "\u00fc"] }, '"e\\u0301", "u\\u0308"'],
])("%s %j has another form in Unicode", (query, fields, forms) => {
  expect(hintsOnUnicode({ ...plain, query, ...fields })).toEqual([
    `"patterns": [${forms}] would search for another Unicode form of the same characters`,
  ]);
});

test.each([
  ["cafe", {}],
  ["\u65e5\u672c", {}],
  ["caf\u00e9", { regex: true }],
  ["caf\u00e9", { patterns: ["cafe\u0301"] }],
  ["cafe\u0301", { patterns: ["a", "caf\u00e9"] }],
  ["caf\u00e9", { invert: true }],
  ["\u00e9".repeat(1000), {}],
])("%s %j has none", (query, fields) => {
  expect(hintsOnUnicode({ ...plain, query, ...fields })).toEqual([]);
});

test("a page that ended at a maximum names it only to a call that asked for more", () => {
  const maxima = { bytes: 1000, milliseconds: 25_000 };
  expect(hintsOnLimits({ max_bytes: 1001 }, "max_bytes", maxima)).toEqual([
    "max_bytes is at most 1000, which one message carries",
  ]);
  expect(hintsOnLimits({ deadline_ms: 60_000 }, "deadline", maxima)).toEqual([
    "deadline_ms is at most 25000, the time limit of a call",
  ]);
  const both = { max_bytes: 1000, deadline_ms: 25_000 };
  for (const by of ["max_bytes", "deadline"] as const) expect(hintsOnLimits(both, by, maxima)).toEqual([]);
  expect(hintsOnLimits({ max_bytes: 2000, deadline_ms: 60_000 }, "max_matches", maxima)).toEqual([]);
  expect(hintsOnLimits({}, "max_bytes", maxima)).toEqual([]);
});
