import type { Tree } from "../../harness/tree.ts";
import { type Case, type Failure, failure, notAnObject, payloadOf, wrongTypes } from "../case.ts";

const id = "coder::search";

type Payload = Readonly<Record<string, unknown>>;

/** Returns the answer with these matches: in contents as `at` writes them, and in paths as the path. */
const found = (matches: readonly string[], truncated = false) => ({
  content_matches: matches.filter((match) => match.includes("\u0000")).map(contentMatch),
  path_matches: matches.filter((match) => !match.includes("\u0000")).map((path) => ({ path })),
  truncated,
});

function contentMatch(match: string) {
  const [path, line, column, ...text] = match.split("\u0000");
  return { path, line: Number(line), column: Number(column), text: text.join("\u0000") };
}

const at = (path: string, line: number, column: number, text: string): string =>
  [path, line, column, text].join("\u0000");

const searches = (name: string, tree: Tree, payload: Payload, answer: ReturnType<typeof found>): Case => ({
  name,
  tree,
  call: { function: id, payload },
  expect: { answer },
});

/** Makes a search in the contents of the file `a` only. */
const inText = (
  name: string,
  body: string,
  payload: Payload,
  matches: readonly (readonly [number, number, string])[],
): Case =>
  searches(
    name,
    { a: body },
    { search_paths: false, ...payload },
    found(matches.map(([line, column, text]) => at("a", line, column, text))),
  );

const inRegex = (
  name: string,
  body: string,
  query: string,
  matches: readonly (readonly [number, number, string])[],
): Case => inText(name, body, { query, regex: true }, matches);

/** Makes a search in the paths of files, and not in their contents. */
const inPaths = (
  name: string,
  paths: readonly string[],
  payload: Payload,
  matches: readonly string[],
): Case =>
  searches(
    name,
    Object.fromEntries(paths.map((path) => [path, "x"])),
    { search_content: false, ...payload },
    found(matches),
  );

const refuses = (name: string, payload: unknown, error: Failure, tree: Tree = there): Case => ({
  name,
  tree,
  call: { function: id, payload },
  expect: { error },
});

const there: Tree = {
  "../outside/secret.txt": "outside-secret",
  "a.txt": "a",
  "sub/b": "b",
  out: { link: "../outside" },
  dead: { link: "none" },
};

const literals: Case[] = [
  searches(
    "contents and paths by default",
    { needle: "x\n", other: "a needle\n" },
    { query: "needle" },
    found([at("other", 1, 3, "a needle"), "needle"]),
  ),
  searches("nothing found", { a: "x\n" }, { query: "needle" }, found([])),
  searches("an empty tree", {}, { query: "needle" }, found([])),
  inText(
    "every line that has it, once, at the first",
    "x needle needle\nnone\nneedle\n",
    { query: "needle" },
    [
      [1, 3, "x needle needle"],
      [3, 1, "needle"],
    ],
  ),
  inText("the last line without a newline", "x\nneedle", { query: "needle" }, [[2, 1, "needle"]]),
  inText("a line's end is not part of the line", "a\r\nneedle\r\nb\r\n", { query: "needle" }, [
    [2, 1, "needle"],
  ]),
  inText("a lone carriage return ends no line", "a\rneedle\n", { query: "needle" }, [[1, 3, "a\rneedle"]]),
  inText("one carriage return goes with the newline, another stays", "needle\r\r\n", { query: "needle" }, [
    [1, 1, "needle\r"],
  ]),
  inText("a carriage return at the end of the file stays", "needle\r", { query: "needle" }, [
    [1, 1, "needle\r"],
  ]),
  inText("a match does not span lines", "a\nb\n", { query: "a\nb" }, []),
  inText("the query's dots and stars are literal", "axb a.b*\n", { query: "a.b*" }, [[1, 5, "axb a.b*"]]),
  inText("a query that would be no regex", "f(x[\n", { query: "(x[" }, [[1, 2, "f(x["]]),
  inText("case counts", "Needle\nneedle\n", { query: "needle" }, [[2, 1, "needle"]]),
  inText("the column counts bytes", "é😀needle\n", { query: "needle" }, [[1, 7, "é😀needle"]]),
  inText("the column of a query that is not ASCII", "aé é\n", { query: "é" }, [[1, 2, "aé é"]]),
  inText("a space is a query", "a b\n", { query: " " }, [[1, 2, "a b"]]),
  inText("a byte order mark is part of the first line", "\ufeffneedle\n", { query: "needle" }, [
    [1, 4, "\ufeffneedle"],
  ]),
  inText("composed and decomposed are different", "cafe\u0301\n", { query: "caf\u00e9" }, []),
  inText("an empty file", "", { query: "x" }, []),
  inText("a line after many", `${"x\n".repeat(50_000)}needle\n`, { query: "needle" }, [
    [50_001, 1, "needle"],
  ]),
];

const ignoringCase: Case[] = [
  inText("ASCII", "NeedLE\n", { query: "nEEdle", ignore_case: true }, [[1, 1, "NeedLE"]]),
  inText("accents", "ÉCOLE\n", { query: "école", ignore_case: true }, [[1, 1, "ÉCOLE"]]),
  inText("Greek, the final sigma too", "ΟΔΟΣ\nοδος\nοδοσ\n", { query: "οδοσ", ignore_case: true }, [
    [1, 1, "ΟΔΟΣ"],
    [2, 1, "οδος"],
    [3, 1, "οδοσ"],
  ]),
  inText("Cyrillic", "ПРИВЕТ\n", { query: "привет", ignore_case: true }, [[1, 1, "ПРИВЕТ"]]),
  inText("the Kelvin sign is a k", "\u212a\n", { query: "k", ignore_case: true }, [[1, 1, "\u212a"]]),
  inText("a k finds the Kelvin sign's query", "k\n", { query: "\u212a", ignore_case: true }, [[1, 1, "k"]]),
  inText("the long s is an s", "Miſt\n", { query: "mist", ignore_case: true }, [[1, 1, "Miſt"]]),
  inText("ß is not ss", "STRASSE\n", { query: "straße", ignore_case: true }, []),
  inText("the query stays literal", "A.B AXB\n", { query: "a.b", ignore_case: true }, [[1, 1, "A.B AXB"]]),
  inText("a query with a backslash and brackets", "X[1]\\D\n", { query: "x[1]\\d", ignore_case: true }, [
    [1, 1, "X[1]\\D"],
  ]),
  inText("a regex", "NEEDLE 1\n", { query: "needle \\d", regex: true, ignore_case: true }, [
    [1, 1, "NEEDLE 1"],
  ]),
  inText("a regex that is not ASCII", "ÉÉ\n", { query: "^é+$", regex: true, ignore_case: true }, [
    [1, 1, "ÉÉ"],
  ]),
  inPaths("paths", ["Src/Main.TS", "b"], { query: "src/main.ts", ignore_case: true }, ["Src/Main.TS"]),
];

const regexes: Case[] = [
  inRegex("an alternation", "a cat\na dog\na cow\n", "cat|dog", [
    [1, 3, "a cat"],
    [2, 3, "a dog"],
  ]),
  inRegex("^ and $ mean the line", "ab\nb\nba\n", "^b$", [[2, 1, "b"]]),
  inRegex("\\A and \\z mean the line", "ab\nb\nba\n", "\\Ab\\z", [[2, 1, "b"]]),
  inRegex("$ is before a CRLF", "ab\r\n", "b$", [[1, 2, "ab"]]),
  inRegex("an empty line", "a\n\nb\n", "^$", [[2, 1, ""]]),
  inRegex("an empty CRLF line", "a\r\n\r\nb\r\n", "^$", [[2, 1, ""]]),
  inRegex("no line behind the last newline", "a\n", "^", [[1, 1, "a"]]),
  inRegex("an empty match counts, at column 1", "ab\nxb\n", "x*", [
    [1, 1, "ab"],
    [2, 1, "xb"],
  ]),
  inRegex("\\n matches in no line", "a\nb\n", "a\\nb", []),
  inRegex("a dot matches no part of a character", "é\n", "^.$", [[1, 1, "é"]]),
  inRegex("\\d knows all digits", "٣\n", "^\\d$", [[1, 1, "٣"]]),
  inRegex("\\w knows all letters", "naïve été\n", "^\\w+ \\w+$", [[1, 1, "naïve été"]]),
  inRegex("\\b knows all letters", "été té\n", "\\bté", [[1, 7, "été té"]]),
  inRegex("\\s knows all spaces", "a\u00a0b\n", "a\\sb", [[1, 1, "a\u00a0b"]]),
  inRegex("a Unicode class", "abc αβγ\n", "\\p{Greek}+", [[1, 5, "abc αβγ"]]),
  inRegex("a negated Unicode class", "éa1\n", "\\P{L}", [[1, 4, "éa1"]]),
  inRegex("a POSIX class", "ab1\n", "[[:digit:]]", [[1, 3, "ab1"]]),
  inRegex("class arithmetic", "aeiouxyz\n", "[a-z&&[^aeiou]]", [[1, 6, "aeiouxyz"]]),
  inRegex("a flag for ignoring case", "ABC\n", "(?i)abc", [[1, 1, "ABC"]]),
  inRegex("a flag for a group", "aB AB\n", "a(?i:b)", [[1, 1, "aB AB"]]),
  inRegex("the extended syntax", "a1\n", "(?x) a   \\d # a digit", [[1, 1, "a1"]]),
  inRegex("swapped greed", "aaa\n", "(?U)a+$", [[1, 1, "aaa"]]),
  inRegex("named groups, both spellings", "2024-11\n", "(?P<y>\\d{4})-(?<m>\\d{2})", [[1, 1, "2024-11"]]),
  inRegex("a counted repetition", "aaaa\n", "^a{2,4}$", [[1, 1, "aaaa"]]),
  inRegex("a lazy repetition", "<a><b>\n", "<b.*?>", [[1, 4, "<a><b>"]]),
  inRegex("leftmost first", "samwise\n", "sam|samwise", [[1, 1, "samwise"]]),
  inRegex("escapes of code points", "é😀\n", "\\x{1F600}|\\u00e9", [[1, 1, "é😀"]]),
  inRegex("a pattern that kills others is linear here", `${"a".repeat(4000)}b\n`, "^(a+)+$", []),
  inRegex("a pattern that exhausts others finds what is there", `${"a".repeat(4000)}\n`, "^(a|a)*$", [
    [1, 1, "a".repeat(4000)],
  ]),
  inPaths("paths as a whole", ["src/a.ts", "src/a.tsx", "a.ts"], { query: "^src/.*\\.ts$", regex: true }, [
    "src/a.ts",
  ]),
  ...[
    ["a look-ahead", "a(?=b)"],
    ["a look-behind", "(?<=a)b"],
    ["a back-reference", "(a)\\1"],
    ["an unclosed group", "(a"],
    ["an unclosed class", "[a"],
    ["a repetition of nothing", "*a"],
    ["a repetition too large", "(?:a{1000}){1000}{1000}"],
    ["an unknown class", "\\p{Klingon}"],
    ["an unknown escape", "\\y"],
    ["a lone backslash", "a\\"],
    ["counts upside down", "a{3,2}"],
    ["a possessive group", "(?>a)"],
  ].map(([name, query]) =>
    refuses(`${name} is no pattern`, { query, regex: true }, failure("C210", "regex")),
  ),
  refuses(
    "no pattern, in an empty folder",
    { query: "(", regex: true, path: "none" },
    failure("C210", "regex"),
    {
      "none/": null,
    },
  ),
  refuses("no pattern, in a missing folder", { query: "(", regex: true, path: "missing" }, failure("C211")),
  refuses(
    "no pattern, and paths alone",
    { query: "(", regex: true, path: "none", search_content: false },
    failure("C210", "regex"),
    { "none/": null },
  ),
];

const lines: Case[] = [
  inText("a long line is cut", "0123456789\n", { query: "01", max_line_bytes: 4 }, [[1, 1, "0123"]]),
  inText("what lies beyond the cut is not found", "0123456789\n", { query: "45", max_line_bytes: 4 }, []),
  inText("what lies across the cut is not found", "0123456789\n", { query: "34", max_line_bytes: 4 }, []),
  inText("a line as long as the limit is whole", "0123\n", { query: "3", max_line_bytes: 4 }, [
    [1, 4, "0123"],
  ]),
  inText("the line's end does not count", "0123\r\n", { query: "3", max_line_bytes: 4 }, [[1, 4, "0123"]]),
  inText("the cut keeps characters whole", "éé\n", { query: "é", max_line_bytes: 3 }, [[1, 1, "é"]]),
  inText("the cut keeps a character of four bytes whole", "a😀b\n", { query: "a", max_line_bytes: 4 }, [
    [1, 1, "a"],
  ]),
  inText(
    "a first character that does not fit leaves the line empty",
    "😀a\n",
    { query: ".", regex: true, max_line_bytes: 1 },
    [],
  ),
  inText("a character that fits just", "a😀b\n", { query: "😀", max_line_bytes: 5 }, [[1, 2, "a😀"]]),
  inText("$ is where the line was cut", "0123456789\n", { query: "3$", regex: true, max_line_bytes: 4 }, [
    [1, 4, "0123"],
  ]),
  inText(
    "the next line is not touched by a cut",
    "0123456789\nneedle\n",
    { query: "needle", max_line_bytes: 6 },
    [[2, 1, "needle"]],
  ),
  inText("the default is 4096", `${"x".repeat(4095)}ab\n`, { query: "a" }, [
    [1, 4096, `${"x".repeat(4095)}a`],
  ]),
  inText("beyond the default", `${"x".repeat(4096)}a\n`, { query: "a" }, []),
  inText("a limit of 0 leaves every line empty", "a\n\n", { query: "^$", regex: true, max_line_bytes: 0 }, [
    [1, 1, ""],
    [2, 1, ""],
  ]),
  inText("max_line_bytes may be null", "needle\n", { query: "needle", max_line_bytes: null }, [
    [1, 1, "needle"],
  ]),
  inText("the greatest limit", `${"x".repeat(5000)}a\n`, { query: "a", max_line_bytes: 4294967295 }, [
    [1, 5001, `${"x".repeat(5000)}a`],
  ]),
  {
    ...inText("the default is configured", "0123456789\n", { query: "0" }, [[1, 1, "012"]]),
    config: { search_default_max_line_bytes: 3 },
  },
];

const abc: Tree = { a: "x\nx\n", b: "x\n", xa: "", xb: "" };

const caps: Case[] = [
  searches(
    "as many matches as the cap",
    abc,
    { query: "x", max_matches: 3 },
    found([at("a", 1, 1, "x"), at("a", 2, 1, "x"), at("b", 1, 1, "x"), "xa", "xb"]),
  ),
  searches(
    "one content match more than the cap",
    abc,
    { query: "x", max_matches: 2 },
    found([at("a", 1, 1, "x"), at("a", 2, 1, "x"), "xa", "xb"], true),
  ),
  searches("both lists cut", abc, { query: "x", max_matches: 1 }, found([at("a", 1, 1, "x"), "xa"], true)),
  searches(
    "one path match more than the cap",
    { xa: "", xb: "" },
    { query: "x", max_matches: 1 },
    found(["xa"], true),
  ),
  searches("cap 0 and something to find", abc, { query: "x", max_matches: 0 }, found([], true)),
  searches("cap 0 and nothing to find", abc, { query: "none", max_matches: 0 }, found([])),
  searches(
    "max_matches may be null",
    abc,
    { query: "x", max_matches: null, search_paths: false },
    found([at("a", 1, 1, "x"), at("a", 2, 1, "x"), at("b", 1, 1, "x")]),
  ),
  searches(
    "the greatest cap",
    { a: "x" },
    { query: "x", max_matches: 4294967295 },
    found([at("a", 1, 1, "x")]),
  ),
  searches(
    "the default cap is 1000",
    { a: "x\n".repeat(1001) },
    { query: "x" },
    found(
      Array.from({ length: 1000 }, (_, n) => at("a", n + 1, 1, "x")),
      true,
    ),
  ),
  searches(
    "1000 matches are not cut",
    { a: "x\n".repeat(1000) },
    { query: "x" },
    found(Array.from({ length: 1000 }, (_, n) => at("a", n + 1, 1, "x"))),
  ),
  {
    ...searches(
      "the default cap is configured",
      abc,
      { query: "x" },
      found([at("a", 1, 1, "x"), "xa"], true),
    ),
    config: { search_default_max_matches: 1 },
  },
];

const walks: Case[] = [
  searches(
    "the order is that of the path's bytes, then of lines",
    { "a/b": "x\nx", "a.txt": "x", "a-b": "x", a0: "x", B: "x", é: "x", "a/a/z": "x" },
    { query: "x", search_paths: false },
    found([
      at("B", 1, 1, "x"),
      at("a-b", 1, 1, "x"),
      at("a.txt", 1, 1, "x"),
      at("a/a/z", 1, 1, "x"),
      at("a/b", 1, 1, "x"),
      at("a/b", 2, 1, "x"),
      at("a0", 1, 1, "x"),
      at("é", 1, 1, "x"),
    ]),
  ),
  inPaths("paths are in that order too", ["a/b", "a.txt", "a-b", "a0"], { query: "a" }, [
    "a-b",
    "a.txt",
    "a/b",
    "a0",
  ]),
  searches(
    "a cut answer holds the first in that order",
    { "a/b": "x", "a.txt": "x", a0: "x" },
    { query: "x", search_paths: false, max_matches: 2 },
    found([at("a.txt", 1, 1, "x"), at("a/b", 1, 1, "x")], true),
  ),
  inPaths("a query with a slash", ["src/main.ts", "srcmain.ts"], { query: "src/main" }, ["src/main.ts"]),
  inPaths("folders are no matches", ["needle/a"], { query: "needle" }, ["needle/a"]),
  inPaths("hidden files and folders", [".needle/.a", ".git/needle"], { query: "needle" }, [
    ".git/needle",
    ".needle/.a",
  ]),
  searches(
    "search_paths false",
    { needle: "needle\n" },
    { query: "needle", search_paths: false },
    found([at("needle", 1, 1, "needle")]),
  ),
  searches(
    "search_content false",
    { needle: "needle\n" },
    { query: "needle", search_content: false },
    found(["needle"]),
  ),
  searches(
    "a folder scopes the walk, not the paths",
    { "sub/a": "needle\n", b: "needle\n", "sub2/a": "needle\n" },
    { query: "needle", path: "sub" },
    found([at("sub/a", 1, 1, "needle")]),
  ),
  inPaths("the folder's name is part of its files' paths", ["sub/a", "b"], { query: "sub/a", path: "sub" }, [
    "sub/a",
  ]),
  searches(
    "a folder however it is written",
    { "sub/a": "needle" },
    { query: "needle", path: "./sub/" },
    found([at("sub/a", 1, 1, "needle")]),
  ),
  searches(
    "a folder through a link",
    { "sub/a": "needle", ln: { link: "sub" } },
    { query: "needle", path: "ln" },
    found([at("sub/a", 1, 1, "needle")]),
  ),
  searches(
    "links are not followed and are no matches",
    {
      "../outside/secret.txt": "needle",
      a: "needle",
      ln: { link: "a" },
      needle: { link: "a" },
      loop: { link: "." },
      out: { link: "../outside" },
    },
    { query: "needle" },
    found([at("a", 1, 1, "needle")]),
  ),
  searches(
    "a FIFO does not block and is no match",
    { needle: { fifo: true }, a: "needle" },
    { query: "needle" },
    found([at("a", 1, 1, "needle")]),
  ),
  searches(
    "a file with a NUL is searched by path alone",
    { "needle.bin": "needle\0", a: "needle" },
    { query: "needle" },
    found([at("a", 1, 1, "needle"), "needle.bin"]),
  ),
  searches(
    "a NUL far behind counts too",
    { a: `needle\n${"x".repeat(100_000)}\0` },
    { query: "needle" },
    found([]),
  ),
  {
    ...searches(
      "a file larger than max_read_bytes is searched by path alone",
      { needle: "needle 0123", a: "needle 012" },
      { query: "needle" },
      found([at("a", 1, 1, "needle 012"), "needle"]),
    ),
    config: { max_read_bytes: 10 },
  },
  searches(
    "a line with foreign bytes is shown with U+FFFD",
    { a: Buffer.from([0x61, 0x62, 0x20, 0xff, 0x0a]) },
    { query: "ab" },
    found([at("a", 1, 1, "ab \ufffd")]),
  ),
  searches(
    "a file with foreign bytes has other lines",
    { a: Buffer.from([0xff, 0xfe, 0x0a, 0x61, 0x62, 0x0a]) },
    { query: "ab" },
    found([at("a", 2, 1, "ab")]),
  ),
  searches(
    "a name that is not UTF-8 is shown with U+FFFD",
    { "x\udcff": "1" },
    { query: "x", search_content: false },
    found(["x\ufffd"]),
  ),
];

const secrets: Tree = {
  ".env": "needle",
  "a.pem": "needle",
  "secrets/needle": "needle",
  "sub/.env.needle": "needle",
  b: "needle",
};

const denied: Case[] = [
  searches(
    "files that are still being written are in neither list",
    { ".coder-tmp-needle": "needle", "s/.coder-tmp-needle": "needle", a: "needle" },
    { query: "needle" },
    found([at("a", 1, 1, "needle")]),
  ),
  searches(
    "denied files are in neither list",
    secrets,
    { query: "needle" },
    found([at("b", 1, 1, "needle")]),
  ),
  searches(
    "denied files do not fill the cap",
    secrets,
    { query: "needle", max_matches: 1 },
    found([at("b", 1, 1, "needle")]),
  ),
  searches("denied names are not found", secrets, { query: ".env" }, found([])),
  searches(
    "nor by a glob that names them",
    secrets,
    { query: "needle", include_globs: [".env", "secrets/**"] },
    found([]),
  ),
  searches(
    "a folder of secrets has nothing to search",
    secrets,
    { query: "needle", path: "secrets" },
    found([]),
  ),
  {
    ...searches(
      "nothing is denied by no glob",
      { ".env": "needle" },
      { query: "needle" },
      found([at(".env", 1, 1, "needle")]),
    ),
    config: { non_accessible_globs: [] },
  },
  {
    ...searches("a denied folder is not entered", { "private/a": "needle" }, { query: "needle" }, found([])),
    config: { non_accessible_globs: ["private"] },
  },
];

const globbed = (
  name: string,
  paths: readonly string[],
  payload: Payload,
  matches: readonly string[],
): Case => inPaths(name, paths, { query: ".", regex: true, ...payload }, matches);

const globs: Case[] = [
  globbed("no globs at all", ["a", "b/c"], { include_globs: [], exclude_globs: [] }, ["a", "b/c"]),
  globbed("* crosses folders", ["a.ts", "b/c/d.ts", "e.js"], { include_globs: ["*.ts"] }, [
    "a.ts",
    "b/c/d.ts",
  ]),
  globbed("? is one character", ["a", "ab", "é"], { include_globs: ["?"] }, ["a", "é"]),
  globbed("? is a slash too", ["a/b", "axb"], { include_globs: ["a?b"] }, ["a/b", "axb"]),
  globbed("a glob is the whole path", ["src/a.ts", "a.ts"], { include_globs: ["a.ts"] }, ["a.ts"]),
  globbed(
    "**/ in front is any folders, or none",
    ["a.ts", "b/a.ts", "b/xa.ts", "b/c/a.ts"],
    { include_globs: ["**/a.ts"] },
    ["a.ts", "b/a.ts", "b/c/a.ts"],
  ),
  globbed("/** behind is what lies below", ["b/c", "b/d/e", "bc"], { include_globs: ["b/**"] }, [
    "b/c",
    "b/d/e",
  ]),
  globbed(
    "/**/ between is any folders, or none",
    ["a/c", "a/b/c", "a/b/b/c", "ac"],
    { include_globs: ["a/**/c"] },
    ["a/b/b/c", "a/b/c", "a/c"],
  ),
  globbed("** in a name is two stars", ["abc", "a/b/c", "ac"], { include_globs: ["a**c"] }, [
    "a/b/c",
    "abc",
    "ac",
  ]),
  globbed("a class", ["a", "b", "c"], { include_globs: ["[ab]"] }, ["a", "b"]),
  globbed("a range", ["a", "m", "z", "é"], { include_globs: ["[a-m]"] }, ["a", "m"]),
  globbed("a negated class with !", ["a", "b", "c"], { include_globs: ["[!ab]"] }, ["c"]),
  globbed("a negated class with ^", ["a", "b", "c"], { include_globs: ["[^ab]"] }, ["c"]),
  globbed("a class with a bracket in it", ["]", "a"], { include_globs: ["[]]"] }, ["]"]),
  globbed("alternatives", ["a.ts", "a.js", "a.rs"], { include_globs: ["*.{ts,js}"] }, ["a.js", "a.ts"]),
  globbed("alternatives in alternatives", ["ab", "acx", "acy", "d"], { include_globs: ["{a{b,c{x,y}},d}"] }, [
    "ab",
    "acx",
    "acy",
    "d",
  ]),
  globbed("a range in braces is one literal", ["1", "2", "1..3"], { include_globs: ["{1..3}"] }, ["1..3"]),
  globbed("an escaped star", ["*", "a"], { include_globs: ["\\*"] }, ["*"]),
  globbed("an exclamation mark in front is literal", ["!a", "b"], { include_globs: ["!a"] }, ["!a"]),
  globbed("extended globs are literal", ["+(a)", "a", "aa"], { include_globs: ["+(a)"] }, ["+(a)"]),
  globbed("dotfiles are nothing special", [".a", "b/.c"], { include_globs: ["*"] }, [".a", "b/.c"]),
  globbed("case counts in globs", ["A.TS", "a.ts"], { include_globs: ["*.ts"] }, ["a.ts"]),
  globbed("several includes are any of them", ["a", "b", "c"], { include_globs: ["a", "b"] }, ["a", "b"]),
  globbed("excludes", ["a.ts", "b/c.ts", "d.js"], { exclude_globs: ["b/**", "*.js"] }, ["a.ts"]),
  globbed(
    "excludes win over includes",
    ["a.ts", "a.test.ts"],
    { include_globs: ["*.ts"], exclude_globs: ["*.test.ts"] },
    ["a.ts"],
  ),
  globbed("an excluded folder needs its files named", ["b/c"], { exclude_globs: ["b"] }, ["b/c"]),
  globbed(
    "globs go by the base, whatever the path",
    ["sub/a.ts", "a.ts"],
    { path: "sub", include_globs: ["sub/*.ts"] },
    ["sub/a.ts"],
  ),
  globbed(
    "a glob relative to the path finds nothing",
    ["sub/a.ts"],
    { path: "sub", include_globs: ["a.ts"] },
    [],
  ),
  globbed(
    "a glob that kills others",
    ["a".repeat(100)],
    { include_globs: ["*a*a*a*a*a*a*a*a*a*a*a*a*b"] },
    [],
  ),
  searches(
    "globs go for contents too",
    { "a.ts": "needle", "b.js": "needle" },
    { query: "needle", include_globs: ["*.ts"] },
    found([at("a.ts", 1, 1, "needle")]),
  ),
  ...["include_globs", "exclude_globs"].flatMap((field) =>
    ["[a", "{a", "{a,{b}", "[", "a["].map((glob) =>
      refuses(`${field} has ${glob}`, { query: "x", [field]: ["*.ts", glob] }, failure("C210", glob)),
    ),
  ),
];

const refusals: Case[] = [
  refuses("an empty query", { query: "" }, failure("C210", "query", "empty")),
  refuses("an empty regex", { query: "", regex: true }, failure("C210", "query")),
  refuses(
    "nothing to search",
    { query: "x", search_content: false, search_paths: false },
    failure("C210", "search_content", "search_paths"),
  ),
  refuses("the path is a file", { query: "x", path: "a.txt" }, failure("C210", "folder")),
  refuses("the path is a FIFO", { query: "x", path: "pipe" }, failure("C210", "folder"), {
    pipe: { fifo: true },
  }),
  refuses("the path is missing", { query: "x", path: "missing" }, failure("C211", "not found")),
  refuses("the path is denied", { query: "x", path: "secrets/in" }, failure("C211"), { "secrets/in/x": "x" }),
  refuses("the path leads out", { query: "x", path: ".." }, failure("C215")),
  refuses("the path is a link out", { query: "x", path: "out" }, failure("C215")),
  refuses("the path dangles", { query: "x", path: "dead" }, failure("C215")),
  refuses("the path is empty", { query: "x", path: "" }, failure("C210", "empty")),
  refuses("the path is absolute", { query: "x", path: "/" }, failure("C210", "absolute")),
  refuses("the path has a NUL", { query: "x", path: "a\0" }, failure("C210")),
];

const payloads: Case[] = [
  ...notAnObject(id),
  refuses("query is missing", {}, failure("C210", "query")),
  ...["query", "path"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a string"],
      says: [field, "string"],
      payload: (value) => ({ query: "x", [field]: value }),
    }),
  ),
  ...["regex", "ignore_case", "search_content", "search_paths"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a boolean"],
      says: [field, "true or false"],
      payload: (value) => ({ query: "x", [field]: value }),
    }),
  ),
  ...["include_globs", "exclude_globs"].flatMap((field) => [
    ...wrongTypes({
      function: id,
      field,
      takes: ["an array"],
      says: [field, "array"],
      payload: (value) => ({ query: "x", [field]: value }),
    }),
    ...wrongTypes({
      function: id,
      field: `${field}[1]`,
      takes: ["a string"],
      says: [field, "1", "string"],
      payload: (value) => ({ query: "x", [field]: ["*", value] }),
    }),
  ]),
  ...["max_matches", "max_line_bytes"].flatMap((field) => [
    ...wrongTypes({
      function: id,
      field,
      takes: ["a number", "null"],
      says: [field, "whole number"],
      payload: (value) => ({ query: "x", [field]: value }),
    }),
    ...[-1, 4294967296].map((value) =>
      refuses(`${field} is ${value}`, { query: "x", [field]: value }, failure("C210", field)),
    ),
  ]),
  searches(
    "unknown fields are ignored",
    { a: "X" },
    payloadOf(
      '{"query":"x","word":true,"_caller_worker_id":"x","__proto__":{"ignore_case":true}}',
    ) as Payload,
    found([]),
  ),
];

export const cases: readonly Case[] = [
  ...literals,
  ...ignoringCase.map((one) => ({ ...one, name: `ignoring case: ${one.name}` })),
  ...regexes,
  ...lines,
  ...caps,
  ...walks,
  ...denied,
  ...globs,
  ...refusals,
  ...payloads,
];
