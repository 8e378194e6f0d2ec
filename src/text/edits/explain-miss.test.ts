import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { inOneStep, runAtOnce } from "../../base/scheduling/time-slice.ts";
import { refuseEdit } from "./edit-errors.ts";
import { crlf, missCases, spaces, tabs } from "./explain-miss.test-kit.ts";
import { explainMissing, placesInContext, placesOfDone } from "./explain-miss.ts";
import { withoutLineNumbers } from "./line-numbers.ts";
import { findMatches } from "./str-replace.ts";

const missOf = (file: string, sent: string) => {
  const body = Buffer.from(file);
  const op = { old_str: sent, new_str: "", replace_all: false };
  expect(runAtOnce(findMatches(body, op)).starts).toEqual([]);
  return runAtOnce(explainMissing(body, sent));
};

describe("a miss by", () => {
  test.each(missCases)("%s", (_, file, ...[sent, differs, expected]) => {
    const miss = missOf(file, sent);
    const [best] = miss.candidates;
    const found = best === undefined ? [] : [...new Set([best.from_line, best.to_line])];
    expect([found.join("-"), miss.differs]).toEqual([expected, differs]);
    if (best === undefined) return;
    expect(best.text).toBe(
      file
        .split(/(?<=\n)/)
        .slice(best.from_line - 1, best.to_line)
        .join(""),
    );
    expect(best.similarity).toBeGreaterThan(0.4);
    expect(best.similarity).toBeLessThan(1);
  });

  test("is one of at least forty", () => {
    expect(missCases.length).toBeGreaterThanOrEqual(40);
  });
});

const many = 300_000;

/** Texts that took quadratic time, or one step for all of their lines. */
const hostile: readonly (readonly [what: string, file: string, sent: string])[] = [
  ["a line of tildes", "hello\n", `${"~".repeat(3 * many)}\`\nx`],
  [
    "blank lines after the place",
    `a long line\n${"\n".repeat(2 * many)}c`,
    `a long line\n${"\n".repeat(many)}b`,
  ],
  [
    "lines before the first of the file",
    `let x = other;\n${"q\n".repeat(many)}`,
    `${" \n".repeat(19_000)}let x = others;\n`,
  ],
  ["lines in another case", "hello", "aB\n".repeat(many)],
  ["lines that are numbered, but not the last", "hello\n", `${"1: \n".repeat(many / 3)}b`],
];

test.each(hostile)("a miss of many bytes ends: %s", (_, file, sent) => {
  expect(missOf(file, sent).isWrappedOnly).toBe(false);
});

/** Almost equal parts of "a", at whose every offset the runtime's own search of texts compares far. */
const [before, after] = ["a".repeat(30_000), `${"a".repeat(15_000)}\`b${"a".repeat(14_000)}`];
const marks = `${"\u0591".repeat(15_000)}\u05b0`;

test.each([
  ["a part of a long line", before, after],
  ["lines in another case", `A${before}\nb\n`, `${after}\nB`],
  ["marks in another order", `x${marks}y`, `x${marks}z`],
  ["typographic quotes beside many marks", `"x"${marks}y`, `\u201cx\u201d${marks}y`],
])("of a miss, neither texts nor marks are compared in quadratic time: %s", (_, file, sent) => {
  const includes = spyOn(String.prototype, "includes");
  const normalize = spyOn(String.prototype, "normalize");
  expect(missOf(file, sent).candidates).toHaveLength(1);
  const compared = includes.mock.calls.map(
    ([part], at) => part.length * `${includes.mock.contexts[at]}`.length,
  );
  const ordered = normalize.mock.contexts.map((text) => `${text}`.match(/\p{M}{65}/u));
  includes.mockRestore();
  normalize.mockRestore();
  expect(Math.max(0, ...compared)).toBeLessThan(1_000_000);
  expect(ordered.filter((found) => found !== null)).toEqual([]);
});

test("a replacement is found in a long missing text", () => {
  const [part, sent] = [`${"a".repeat(2 * many)}\`b${"a".repeat(2 * many)}`, "a".repeat(8 * many)];
  const done = { needle: Buffer.from(part), replacement: Buffer.from(part), starts: [0], count: 1 };
  const matches = { ...done, overlapping: undefined };
  const miss = { candidates: [], differs: "none" } as const;
  const placesIn = (missing: string) => runAtOnce(placesOfDone(done.needle, matches, miss, missing));
  expect(placesIn(sent)).toHaveLength(1);
  expect(placesIn(sent + part)).toBeUndefined();
});

test("a place after a million blanks is found", () => {
  const [best] = missOf(`${" ".repeat(1_000_000)}hello world foo bar`, " hello w0rld foo bar").candidates;
  expect(best).toMatchObject({ from_line: 1, truncated: true });
});

test("of a text without line numbers and fences, only the first line is read for them", () => {
  const exec = spyOn(RegExp.prototype, "exec");
  const sent = "a\n".repeat(200_000);
  expect(runAtOnce(withoutLineNumbers(sent, () => inOneStep(() => false)))).toBeUndefined();
  expect(exec.mock.calls.length).toBeLessThan(20);
  exec.mockRestore();
});

test("there are at most three candidates, the likeliest first", () => {
  const file = [
    "let alpha = 1;",
    "let alpha = 12;",
    "let alpha = 123;",
    "let alpha = 1234;",
    "let beta = 5;",
  ].join("\n");
  const { candidates } = missOf(file, "let alpha = 13;");
  expect(candidates.length).toBe(3);
  expect(candidates.map(({ similarity }) => similarity)).toEqual(
    candidates.map(({ similarity }) => similarity).toSorted((a, b) => b - a),
  );
});

test("the first of equal candidates is the one that comes first", () => {
  const { candidates } = missOf(tabs, "    file.close();\n    }\n");
  expect(candidates.map(({ from_line }) => from_line)).toEqual([9, 19]);
});

test("a candidate in a very long line is shown where it is", () => {
  const file = `${"x = 1; ".repeat(5000)}function target(a, b) { return a + b; } ${"y = 2; ".repeat(5000)}`;
  const [best] = missOf(file, "function target(a,b) { return a+b; }").candidates;
  expect(best).toMatchObject({ from_line: 1, to_line: 1, truncated: true, column: 35_001 });
  expect(best?.text).toContain("; function target(a, b) { return a + b; } y");
  expect(Buffer.byteLength(best?.text ?? "")).toBeLessThanOrEqual(256);
});

test("a byte order mark is in front of line 1", () => {
  const [best] = missOf("\ufeffone two\nthree\n", "one  two").candidates;
  expect(best).toMatchObject({ from_line: 1, to_line: 1, text: "one two\n" });
});

test.each([
  [
    "where the old text was",
    "let a = 1;\nlet timeout = 60;\n",
    "let timeout = 30;",
    "let timeout = 60;",
    [2],
  ],
  ["where nothing is like the old text", "a\nfetchAllOrders()\n", "SELECT * FROM t", "fetchAllOrders()", [2]],
  ["but short, where nothing is like the old text", "a\n}\n", "SELECT * FROM t", "}", undefined],
  [
    "elsewhere, while another line is like the old text",
    "let timeout = 31;\n\n\nreturn null;\n",
    "let timeout = 30;",
    "return null;",
    undefined,
  ],
  ["as a part of the old text", "if x:\n    y()\n", "if x:\n  y()\n", "if x:\n", undefined],
  ["where the old text differs in blanks", "let  timeout = 30;\n", "let timeout = 30;", "let ", undefined],
  ["nowhere", "let timeout = 31;\n", "let timeout = 30;", "let timeout = 60;", undefined],
  [
    "as all of the lines, indented otherwise",
    "if x:\n    run(y)\n",
    "if x:\n  run(y)\n",
    "if x:\n    run(y)\n",
    [1],
  ],
] as const)("the new text stands %s", (_, file, ...[old_str, new_str, lines]) => {
  const body = Buffer.from(file);
  const miss = missOf(file, old_str);
  const done = runAtOnce(findMatches(body, { old_str: new_str, new_str, replace_all: false }));
  const places = runAtOnce(placesOfDone(body, done, miss, old_str));
  expect(places?.map(({ from_line }) => from_line)).toEqual(lines?.slice());
});

describe("the sentence", () => {
  const sentence = (file: string, sent: string) =>
    refuseEdit.textNotFound({ path: "a.ts", index: 2 }, missOf(file, sent)).message;

  test("shows blanks", () => {
    expect(sentence(tabs, '    return file.read("utf8");\n  } finally {\n')).toBe(
      'ops[2]: old_str is not in "a.ts"; most like it are lines 7 to 8 (98%), and it differs in tabs instead of spaces or the reverse. Line 7 is "→→return·file.read(\\"utf8\\");", and old_str has "····return·file.read(\\"utf8\\");" (· is a space, → is a tab). Send old_str exactly as it is in the file.',
    );
  });

  test("shows carriage returns", () => {
    expect(sentence(`${crlf}x\n`, "  try {\n    file.write(text);\n")).toContain(
      'Line 16 is "··try·{␍", and old_str has "··try·{"',
    );
  });

  test("knows line numbers", () => {
    expect(sentence(spaces, "15→  const file = open(path);\n")).toContain(
      "line numbers stand before its lines",
    );
  });

  test.each([
    ["let name = 'cafe\u0301';\n", "let name = 'caf\u00e9';", "U+0065 U+0301", "U+00E9"],
    ["let\u00a0name = 1;\n", "let name = 1;", "U+00A0", "U+0020"],
    ["let na\u200bme = 1;\n", "let name = 1;", "U+0061 U+200B", "U+0061"],
    ["let n\u0430me = 1;\n", "let name = 1;", "U+0430", "U+0061"],
    ["x\nconst \u041d = 1;\ny\n", "x\nconst H = 1;\n", "U+041D", "U+0048"],
  ])("names characters that look alike: %j", (file, sent, inFile, inSent) => {
    expect(sentence(file, sent)).toContain(
      `They look alike: the file has ${inFile} where old_str has ${inSent}.`,
    );
  });

  test.each([
    [
      "a blank line before them",
      "class A:\n    one()\n    two()\n",
      "\n  one()\n  two()\n",
      2,
      "····one()",
      "··one()",
    ],
    [
      "a line too many before them",
      "a()\nb()\nlet c = 1;\n",
      "// note\na()\nb()\nlet c = 2;",
      3,
      "let·c·=·1;",
      "let·c·=·2;",
    ],
    ["a line that is left out", "a()\nb()\nc()\nd()\nthe end\n", "a()\nb()\nd()\nthe end", 3, "c()", "d()"],
    [
      "a lone CR in a file with CRLF",
      "one\r\ntwo\rhalf\r\nthree\r\n",
      "one\ntwohalf\nthree",
      2,
      "two␍half",
      "twohalf",
    ],
  ] as const)("pairs lines with %s", (_, file, sent, ...[number, line, other]) => {
    expect(sentence(file, sent)).toContain(`Line ${number} is "${line}", and old_str has "${other}"`);
  });

  test("shows characters without a shape by their code points", () => {
    expect(sentence("let na\u200bme = 1;\n", "let name = 1;")).toContain('"let·na<U+200B>me·=·1;"');
    expect(sentence("let\u2800name = 1;\n", "let name = 1;")).toContain(
      "the file has U+2800 where old_str has U+0020",
    );
    expect(sentence("let na\u0001me = 1;\n", "let name = 1;")).toContain(
      "the file has U+0061 U+0001 where old_str has U+0061",
    );
  });

  test("names blanks within lines", () => {
    expect(sentence("f({ one: 1, two: 2 });\n", "f({one: 1,  two: 2});")).toContain(
      "it differs in blanks within lines",
    );
  });

  test.each(["2:", "2 | ", "2. ", "[2] "])("knows line numbers of the form %j", (prefix) => {
    expect(sentence(spaces, `${prefix}export const greeting = "it's a 'fine' day";`)).toContain(
      "line numbers stand before its lines",
    );
  });

  test("does not take a missing character for blanks", () => {
    const file = "const {\n  kReplyIsError,\n  kReplyHasStatusCode,\n} = symbols\n";
    expect(sentence(file, "  kReplyIsError,\n  kReplyHasStatusCode\n")).toContain(
      '(99%), and it differs in its text. Line 3 is "··kReplyHasStatusCode,", and old_str has "··kReplyHasStatusCode"',
    );
    expect(sentence("first line\nxsecond line\n", "\nsecond line\n")).toContain("it differs in its text");
  });

  test.each([
    ["```js\nfunc third()\n```", "it stands between fences of Markdown; the text between them is line 2"],
    ["```\nfunc third()\nfunc fourth()\n```\n", "the text between them are lines 2 to 3"],
    ["~~~go\nfunc thrid()\n~~~", "even without its fences of Markdown; most like it is line 2"],
  ])("knows fences of Markdown: %j", (sent, says) => {
    expect(sentence("package a\nfunc third()\nfunc fourth()\n", sent)).toContain(says);
  });

  test("finds a short text that differs in a character", () => {
    expect(sentence("f(\n  a,\n  b,\n)\n", "  b\n)")).toContain(
      'most like it are lines 3 to 4 (80%), and it differs in its text. Line 3 is "··b,", and old_str has "··b"',
    );
    const block = "f({\n  a,\n  b,\n})\n";
    expect(sentence(`x\n${block}`, block.replace("a,", "a;"))).toContain("are lines 2 to 5 (9");
  });

  test("names how accents are composed", () => {
    expect(sentence("cafe\u0301 line\n", "caf\u00e9 line")).toContain(
      "differs in how accents are composed (NFC or NFD of Unicode)",
    );
    expect(sentence("say \u201cno\u201d\n", 'say "no"')).toContain("typographic quotes");
  });

  test("names where lines break", () => {
    expect(sentence("func third() {\n}\n", "func third()\n{\n}\n")).toContain(
      "differs in where its lines break",
    );
  });

  test("says what U+FFFD stands for", () => {
    const body = Buffer.from("Gr\u00f6\u00dfe: 10 cm\nrot\n", "latin1");
    const says = (sent: string) =>
      refuseEdit.textNotFound({ path: "a", index: 0 }, runAtOnce(explainMissing(body, sent))).message;
    const advice = 'send its `encoding`, such as "windows-1252"';
    expect(says("Gr\ufffd\ufffde: 10 cm")).toContain(advice);
    expect(says("Gr\u00f6\u00dfe: 10 cm")).toContain(advice);
    expect(says("rott")).not.toContain("encoding");
  });

  test("shows a long line where it differs", () => {
    const start = "x".repeat(200);
    expect(sentence(`${start}one, two, three\n`, `${start}one, tow, three`)).toContain(
      `"…${"x".repeat(34)}one,·two,·three", and old_str has "…${"x".repeat(34)}one,·tow,·three"`,
    );
    const line = Array.from({ length: 5000 }, (_, at) => `function f${at}(a,b){return a+b*${at}};`).join("");
    expect(sentence(line, "function f4061(a, b)")).toContain(
      `Line 1 has "function·f4061(a,b)" at byte ${line.indexOf("function f4061") + 1}, and old_str has "function·f4061(a,·b)"`,
    );
  });

  test("names the columns of places in one long line", () => {
    const line = "a = 1; ".repeat(1000);
    const body = Buffer.from(line);
    const matches = runAtOnce(findMatches(body, { old_str: "a = 1", new_str: "", replace_all: false }));
    const candidates = placesInContext(body, matches);
    const { message } = refuseEdit.ambiguousText({ path: "a.js", index: 0 }, { count: 1000, candidates });
    expect(message).toBe(
      'ops[0]: old_str is in "a.js" 1000 times, first in line 1 at bytes 1, 8, 15; send more of the text around it, so that it is there once, or "replace_all": true.',
    );
    expect(candidates.map(({ text }) => text.length)).toEqual([85, 92, 99]);
  });

  test("searches a long line for its bounds once for each place", () => {
    const body = Buffer.from("a = 1; ".repeat(1000));
    const matches = runAtOnce(findMatches(body, { old_str: "a = 1", new_str: "", replace_all: false }));
    const [back, forth] = [spyOn(body, "lastIndexOf"), spyOn(body, "indexOf")];
    const candidates = placesInContext(body, matches);
    expect(back.mock.calls.length).toBeLessThanOrEqual(candidates.length);
    expect(forth.mock.calls.length).toBeLessThanOrEqual(candidates.length);
  });

  test("names no characters that can be told apart", () => {
    expect(sentence("let nome = 1;\n", "let name = 1;")).not.toContain("look alike");
  });

  test("says that there is nothing alike", () => {
    expect(sentence(spaces, "SELECT * FROM t")).toBe(
      'ops[2]: old_str is not in "a.ts", nor anything like it; read the file with coder::read-file, and send text that is there.',
    );
  });
});

test("any text and any file are compared, and what is reported is in the file", () => {
  const piece = fc.constantFrom(
    "a",
    "b",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\\n",
    '"',
    "“",
    "\\",
    "&lt;",
    "é",
    "\ud83d\ude00",
    "word",
    "\0",
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, fc.uint8Array({ maxLength: 4 }), (file, sent, bytes) => {
      const body = Buffer.concat([Buffer.from(file), bytes]);
      const { candidates, differs } = runAtOnce(explainMissing(body, sent));
      expect(candidates.length).toBeLessThanOrEqual(3);
      if (candidates.length === 0) expect(differs).toBe("none");
      for (const { from_line, to_line, text: lines } of candidates) {
        const all = body
          .toString()
          .replace(/^\ufeff/, "")
          .split(/(?<=\n)/);
        expect(lines).toBe(all.slice(from_line - 1, to_line).join(""));
      }
    }),
    { numRuns: 2000 },
  );
});
