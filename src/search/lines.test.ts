import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSearchKernel, type SearchKernel } from "../prefilter/kernel.ts";
import { findLineBounds } from "../prefilter/line-bounds.ts";
import { createRegexEngine } from "../regex/engine.ts";
import { PatternError } from "../regex/regex-runtime.ts";
import { type LineMatch, type LineOptions, searchLines, slackBytes } from "./lines.ts";
import { type Query, QueryCompiler } from "./query-compiler.ts";
import { cutEnd, rawOffset } from "./utf8.ts";

const engine = createRegexEngine();
const kernel = createSearchKernel() as SearchKernel;
const compilers = [
  new QueryCompiler(() => engine.machine, undefined),
  new QueryCompiler(() => engine.machine, kernel),
];

/** A query, and the options with which it is asked. */
type Question = Query & LineOptions;

const plain: Question = { pattern: "", regex: false, ignoreCase: false, maxLineBytes: 4096 };

/** What the search finds in `bytes`, in a buffer that holds other text behind it, as a reused one does. */
function search(bytes: Buffer, question: Question, maxMatches = Number.POSITIVE_INFINITY): LineMatch[] {
  const [here, inKernel] = [Buffer.alloc, kernel.reserve].map((reserve, i) => {
    const query = (compilers[i] as QueryCompiler).compile(question);
    const text = reserve(bytes.length + slackBytes(query) + 64).fill(`${question.pattern}\nfoo k 1 `);
    bytes.copy(text);
    const { maxLineBytes } = question;
    const limits = {
      maxMatches,
      maxLineBytes,
      isOver: () => false,
      lineBounds: i === 0 ? findLineBounds : kernel.lineBounds,
    };
    return searchLines(text, bytes.length, query, limits);
  });
  expect(inKernel).toEqual(here as LineMatch[]);
  return here as LineMatch[];
}

/** The specification, word for word: the engine on every line. */
function searchEachLine(bytes: Buffer, { pattern, regex, ignoreCase, maxLineBytes }: Question): LineMatch[] {
  if (bytes.includes(0)) return [];
  const source = regex ? pattern : pattern.replace(/[\\.+*?()|[\]{}^$#&~-]/g, "\\$&");
  const compiled = engine.machine.compile(ignoreCase ? `(?i)${source}` : source);
  return linesOf(bytes).flatMap((whole, index) => {
    const line = whole.subarray(0, cutEnd(whole, { start: 0, end: whole.length, limit: maxLineBytes }));
    const shown = Buffer.from(line.toString());
    const at = compiled.find(shown, 0, shown.length);
    return at < 0 ? [] : [{ line: index + 1, column: rawOffset(line, at) + 1, text: shown.toString() }];
  });
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const next = newline < 0 ? bytes.length : newline + 1;
    const end = newline < 0 ? next : newline > start && bytes[newline - 1] === 13 ? newline - 1 : newline;
    lines.push(bytes.subarray(start, end));
    start = next;
  }
  return lines;
}

describe("searchLines", () => {
  test("a literal: line from 1, column in bytes from 1, the line without its ending", () => {
    expect(search(Buffer.from("one\r\né foo foo\nfoo"), { ...plain, pattern: "foo" })).toEqual([
      { line: 2, column: 4, text: "é foo foo" },
      { line: 3, column: 1, text: "foo" },
    ]);
  });

  test("a text with a NUL byte gives nothing", () => {
    expect(search(Buffer.from("foo\n\0"), { ...plain, pattern: "foo" })).toEqual([]);
  });

  test("no more matches than asked for", () => {
    expect(search(Buffer.from("a\na\na\n"), { ...plain, pattern: "a" }, 2)).toHaveLength(2);
  });

  test("nothing is looked for past the cut of a line, nor across it", () => {
    const question = { ...plain, pattern: "def", maxLineBytes: 5 };
    expect(search(Buffer.from("abcdef\ndef abc\n"), question)).toEqual([
      { line: 2, column: 1, text: "def a" },
    ]);
    expect(search(Buffer.from("aé\n"), { ...plain, pattern: "a", maxLineBytes: 2 })).toEqual([
      { line: 1, column: 1, text: "a" },
    ]);
  });

  test("the ends of the text mean the ends of the cut line", () => {
    const question = { ...plain, pattern: "\\Aab\\z", regex: true };
    const ab = { column: 1, text: "ab" };
    expect(search(Buffer.from("x\nab\r\nab"), question)).toEqual([
      { line: 2, ...ab },
      { line: 3, ...ab },
    ]);
    expect(search(Buffer.from("abc\n"), { ...question, maxLineBytes: 2 })).toEqual([{ line: 1, ...ab }]);
  });

  test("case is folded as Unicode does", () => {
    const folded = (pattern: string, text: string) =>
      search(Buffer.from(text), { ...plain, pattern, ignoreCase: true }).map(({ column }) => column);
    expect(folded("sK", "x \u017f\u212a")).toEqual([3]);
    expect(folded("ПРИМЕР", "вот пример")).toEqual([8]);
    expect(folded("straße", "STRASSE")).toEqual([]);
    expect(folded("a.b", "axb A.B")).toEqual([5]);
  });

  test("a line that is not UTF-8 is searched as it is shown, and its columns are those of the file", () => {
    const latin = Buffer.from("caf\xe9 FOO\n", "latin1");
    const text = "caf\ufffd FOO";
    expect(search(latin, { ...plain, pattern: "FOO" })).toEqual([{ line: 1, column: 6, text }]);
    expect(search(latin, { ...plain, pattern: "\ufffd f", ignoreCase: true })).toEqual([
      { line: 1, column: 4, text },
    ]);
    expect(search(latin, { ...plain, pattern: "\\W\\w+$", regex: true })).toEqual([
      { line: 1, column: 5, text },
    ]);
  });
});

const word = fc.constantFrom(
  ..."foo,Foo,FOO,bar,fobar,k,K,\u212a,s,\u017f,S,é,É,ß,жук,ЖУК,𝒳,_,A_B,12,2024-01-02,x,\t, ,.,(,),$,\u2028,\u0085,\ufffd".split(
    ",",
  ),
);
const foreign = fc.constantFrom("\xff", "\xe9", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\x80");
const ending = fc.constantFrom("\n", "\n", "\n\n", "\r\n", "\r", " ", "");
const bytesOf = (text: string) => Buffer.from(text).toString("latin1");

/** Lines of words with every ending, now and then with bytes that are not UTF-8 or very long. */
const content = fc
  .array(
    fc.tuple(
      fc.oneof(
        { weight: 12, arbitrary: word.map(bytesOf) },
        { weight: 1, arbitrary: foreign },
        {
          weight: 1,
          arbitrary: fc
            .tuple(word, fc.integer({ min: 20, max: 2000 }))
            .map(([text, times]) => bytesOf(text.repeat(times))),
        },
      ),
      ending,
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.from(parts.flat().join(""), "latin1"));

const atom = fc.constantFrom(
  ..."foo,Foo,k,s,é,ж,a|b,foo|bar|12,[a-f],[^o],[^\\n],\\w,\\d,\\s,\\S,.,(?s:.),\\b,\\B,^,$,\\A,\\z,\\n,\\r,\\x{fffd},\\p{Greek},\\p{Lu},(?-u:\\w),(?i:k),(?m:^),(?m:$),(?Rm:$),(?Rm:^),\\b{start},\\b{end-half},_,-,oo,\\.,\\(,[[:upper:]],(?:),ß,\u212a".split(
    ",",
  ),
);
const quantifier = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "+?", "{4,}");
const pattern = fc.letrec<{ any: string; group: string; part: string }>((tie) => ({
  part: fc.oneof({ weight: 5, arbitrary: atom }, { weight: 1, arbitrary: tie("group") }),
  any: fc
    .array(
      fc.tuple(tie("part"), quantifier).map(([part, times]) => (times === "" ? part : `(?:${part})${times}`)),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.join("")),
  group: fc.tuple(tie("any"), tie("any")).map(([one, other]) => `(${one}|${other})`),
})).any;

const question: fc.Arbitrary<Question> = fc.oneof(
  fc.record({
    pattern: fc.oneof(
      pattern,
      pattern.map((text) => `(?i)${text}`),
    ),
    regex: fc.constant(true),
    ignoreCase: fc.boolean(),
    maxLineBytes: fc.constantFrom(4096, 4096, 100, 7, 1, 0),
  }),
  fc.record({
    pattern: fc.oneof(
      word,
      fc.tuple(word, word).map((words) => words.join("")),
    ),
    regex: fc.constant(false),
    ignoreCase: fc.boolean(),
    maxLineBytes: fc.constantFrom(4096, 100, 7),
  }),
);

test("the search equals the engine on every line", () => {
  fc.assert(
    fc.property(content, question, (bytes, asked) => {
      try {
        compilers[0]?.compile(asked);
      } catch (error) {
        fc.pre(!(error instanceof PatternError));
      }
      expect(search(bytes, asked)).toEqual(searchEachLine(bytes, asked));
    }),
    { numRuns: Number(process.env["CODER_RUNS"] ?? 2000) },
  );
});

/** Lines as they are in source trees, in three languages and with three kinds of endings. */
const corpus = Buffer.from(
  [
    "import { readFileSync, writeFileSync } from 'node:fs';",
    "export default async function main(argv: string[]): Promise<void> {",
    "  const { name, version } = require('./package.json');\r",
    '  "version": "12.3.456", // TODO(anna): bump on 2024-02-29',
    "\tthrow new TypeError(`größer als ${limit}: ${value}`);",
    "class HttpError extends Error { static readonly E_CONN_RESET = 'ECONNRESET'; }",
    "",
    "   ",
    "# -*- coding: utf-8 -*-  ",
    "def test_naïve_case(self): return None  # FIXME: see https://example.org/a?b=c#d\r",
    "    assert re.match(r'^\\w+$', 'ПРИМЕР') is not None and x != y",
    "if (a && b || !c) { return false; } else if (d) return true;",
    "let s = \"it's a ſtrange \u212aind of 'quote'\"; let n = 0xDEADBEEF + 1e-9;",
    "192.168.0.1 user@example.com deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    "for (int i = 0; i < MAX_BUFFER_SIZE; ++i) buf[i] = (uint8_t)(i & 0xff);",
    "fn parse<'a>(input: &'a str) -> Result<Vec<Token<'a>>, Box<dyn std::error::Error>> {",
    "    .map(|x| x * 2).filter(|x| x % 3 == 0).collect::<Vec<_>>();",
    "日本語のコメント：エラー処理 🎉 done\u2028next\u0085line",
    `const blob = "${"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(200)}"; // ${"é".repeat(900)} end`,
    "SELECT id, email FROM users WHERE deleted_at IS NULL AND role IN ('admin', 'owner');",
    "\ufeffvoid eaddrinuse(void); /* EADDRINUSE: Address already in use */",
    "last line without an ending",
  ].join("\n"),
);

test.each(
  String.raw`function\s+\w+\(
TODO|FIXME|XXX
(?i)todo\(\w+\)
^\s*export\s+(default|const|function)
^import .* from ['"]
\bfoo\b|\bargv\b
(?i)error
(?i)\beaddrinuse\b
\d{4}-\d{2}-\d{2}
https?://[^\s"')]+
[A-Za-z_][A-Za-z0-9_]*Error\b
\w+Error\b
(async\s+)?function\s*\*?\s*\w*
class\s+(\w+)\s+extends\s+(\w+)
\p{Lu}\p{Ll}+\p{Lu}\p{Ll}+
[^\x00-\x7F]+
\$\{[^}]+\}
\.(map|filter|reduce)\(
const\s+\{[^}]*\}\s*=\s*require\(
^\s*(//|#|\*)\s*-
[0-9a-f]{40}
\b[A-Z][A-Z0-9_]{3,}\b
"version":\s*"\d+\.\d+\.\d+"
return (true|false);$
(?i:get|set|\bs)\w+
^\s*$
\s+$
(\w+)\[(\w+)\]\s*=\s*\((\w+)\)
if\s*\(.*&&.*\)\s*\{
(?i)größe|naïve|пример
[\p{Cyrillic}\p{Han}]+
\b\d{1,3}(\.\d{1,3}){3}\b
.{120,}
[\w.+-]+@[\w-]+\.\w+
'[^']*'
(?x) fn \s+ (\w+) # a name
\A\t\S+.*;\z
\b\w{30,}\b
^(?:def|class)\b.*:\s
\x{1F389}|\x{2028}n|end$`.split("\n"),
)("the pattern %s in source lines", (pattern) => {
  for (const maxLineBytes of [4096, 80]) {
    const asked = { pattern, regex: true, ignoreCase: false, maxLineBytes };
    const found = search(corpus, asked);
    expect(found).toEqual(searchEachLine(corpus, asked));
    expect(maxLineBytes === 80 || found.length > 0).toBe(true);
  }
});
