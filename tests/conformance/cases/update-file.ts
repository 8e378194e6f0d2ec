import type { ErrorCode } from "../../harness/errors.ts";
import type { Tree, TreeEntry } from "../../harness/tree.ts";
import { batchOf, type Case, errorWith, failure, notAnObject, payloadOf, wrongTypes } from "../case.ts";

const id = "coder::update-file";

type Op = Readonly<Record<string, unknown>>;

const insert = (at_line: number, content: string): Op => ({ op: "insert", at_line, content });
const remove = (from_line: number, to_line: number): Op => ({ op: "remove", from_line, to_line });
const update = (from_line: number, to_line: number, content: string): Op => ({
  op: "update_lines",
  from_line,
  to_line,
  content,
});
const replace = (pattern: string, replacement: string, more: Op = {}): Op => ({
  op: "replace",
  pattern,
  replacement,
  ...more,
});

/** Counts lines like the specification: a final line break does not begin another line. */
const lineCount = (text: string): number =>
  text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);

const updated = (path: string, applied: number, before: string, after: string) => ({
  path,
  success: true,
  applied,
  new_line_count: lineCount(after),
  before,
  after,
});

const failed = (path: string, code: ErrorCode, ...says: string[]) => ({
  path,
  success: false,
  applied: 0,
  new_line_count: 0,
  error: errorWith(code, ...says),
});

const batch = batchOf(id, (files: unknown) => ({ files }));

/** Makes a case whose ops change the file `a` from the text `before` to `after`. */
const edits = (name: string, before: string, ops: readonly Op[], after: string): Case =>
  batch(name, { a: before }, [{ path: "a", ops }], {
    results: [updated("a", ops.length, before, after)],
    tree: { a: after },
  });

/** Makes a case whose ops are refused and leave the file `a` unchanged. */
const refuses = (
  name: string,
  before: string,
  ops: readonly unknown[],
  error: readonly [ErrorCode, ...string[]],
): Case => {
  const [code, ...says] = error;
  return batch(name, { a: before }, [{ path: "a", ops }], {
    results: [failed("a", code, ...says)],
    tree: {},
  });
};

/** Makes a case of a valid edit that is refused because of its path. */
const refusesPath = (
  name: string,
  tree: Tree,
  path: string,
  error: readonly [ErrorCode, ...string[]],
): Case => {
  const [code, ...says] = error;
  return batch(name, tree, [{ path, ops: [insert(1, "new")] }], {
    results: [failed(path, code, ...says)],
    tree: {},
  });
};

const abc = "a\nb\nc\n";

const inserts: Case[] = [
  edits("insert before the first line", abc, [insert(1, "x")], "x\na\nb\nc\n"),
  edits("insert before a line in the middle", abc, [insert(2, "x")], "a\nx\nb\nc\n"),
  edits("insert before the last line", abc, [insert(3, "x")], "a\nb\nx\nc\n"),
  edits("insert behind the last line", abc, [insert(4, "x")], "a\nb\nc\nx\n"),
  edits("insert several lines", abc, [insert(2, "x\ny\nz")], "a\nx\ny\nz\nb\nc\n"),
  edits("a trailing line break adds no empty line", abc, [insert(2, "x\n")], "a\nx\nb\nc\n"),
  edits("two trailing line breaks add one empty line", abc, [insert(2, "x\n\n")], "a\nx\n\nb\nc\n"),
  edits("a leading line break adds an empty line", abc, [insert(2, "\nx")], "a\n\nx\nb\nc\n"),
  edits("a line break alone is one empty line", abc, [insert(2, "\n")], "a\n\nb\nc\n"),
  edits("insert into an empty file, which has no newline to keep", "", [insert(1, "x")], "x"),
  edits("insert into an empty file, with a newline", "", [insert(1, "x\n")], "x\n"),
  edits("insert nothing adds no line", abc, [insert(2, "")], abc),
  edits("insert into a file that is one empty line", "\n", [insert(1, "x")], "x\n\n"),
  edits(
    "insert in several places",
    abc,
    [insert(1, "1"), insert(3, "3"), insert(4, "4")],
    "1\na\nb\n3\nc\n4\n",
  ),
  edits(
    "the order of ops does not matter",
    abc,
    [insert(4, "4"), insert(1, "1"), insert(3, "3")],
    "1\na\nb\n3\nc\n4\n",
  ),
  edits("characters that are not ASCII", "é\n😀\n", [insert(2, "ß€")], "é\nß€\n😀\n"),
];

const removes: Case[] = [
  edits("remove the first line", abc, [remove(1, 1)], "b\nc\n"),
  edits("remove a line in the middle", abc, [remove(2, 2)], "a\nc\n"),
  edits("remove the last line", abc, [remove(3, 3)], "a\nb\n"),
  edits("remove a range", abc, [remove(1, 2)], "c\n"),
  edits("remove every line", abc, [remove(1, 3)], ""),
  edits("remove several ranges", "1\n2\n3\n4\n5\n", [remove(1, 1), remove(3, 4)], "2\n5\n"),
  edits("remove ranges that touch", "1\n2\n3\n4\n5\n", [remove(2, 3), remove(4, 4)], "1\n5\n"),
  edits("remove an empty line", "a\n\nb\n", [remove(2, 2)], "a\nb\n"),
];

const updates: Case[] = [
  edits("update one line", abc, [update(2, 2, "B")], "a\nB\nc\n"),
  edits("update every line", abc, [update(1, 3, "x")], "x\n"),
  edits("update to more lines", abc, [update(2, 2, "x\ny")], "a\nx\ny\nc\n"),
  edits("update to fewer lines", abc, [update(1, 2, "x")], "x\nc\n"),
  edits("update with a trailing line break", abc, [update(2, 2, "x\n")], "a\nx\nc\n"),
  edits("update to an empty line", abc, [update(2, 2, "\n")], "a\n\nc\n"),
  edits("update to nothing leaves no line", abc, [update(2, 2, "")], "a\nc\n"),
  edits("update to the same", abc, [update(2, 2, "b")], abc),
  edits("update the last line", abc, [update(3, 3, "C")], "a\nb\nC\n"),
];

const mixtures: Case[] = [
  edits(
    "numbers are those of the file as it was",
    "1\n2\n3\n4\n5\n",
    [insert(1, "0"), remove(2, 4), update(5, 5, "five")],
    "0\n1\nfive\n",
  ),
  edits(
    "the same, in another order",
    "1\n2\n3\n4\n5\n",
    [update(5, 5, "five"), remove(2, 4), insert(1, "0")],
    "0\n1\nfive\n",
  ),
  edits("an insert right behind a range", "1\n2\n3\n", [remove(1, 2), insert(3, "x")], "x\n3\n"),
  edits(
    "an insert behind the last line, and a removal of that line",
    abc,
    [remove(3, 3), insert(4, "x")],
    "a\nb\nx\n",
  ),
  edits(
    "an insert before an updated line",
    abc,
    [update(2, 2, "B"), insert(1, "x"), insert(3, "y")],
    "x\na\nB\ny\nc\n",
  ),
  edits(
    "many ops",
    `${"x\n".repeat(300)}`,
    Array.from({ length: 300 }, (_, n) => update(n + 1, n + 1, String(n))),
    Array.from({ length: 300 }, (_, n) => `${n}\n`).join(""),
  ),
];

const endings: Case[] = [
  edits("CRLF: insert", "a\r\nb\r\n", [insert(2, "x")], "a\r\nx\r\nb\r\n"),
  edits(
    "CRLF: insert several lines sent with LF",
    "a\r\nb\r\n",
    [insert(2, "x\ny\n")],
    "a\r\nx\r\ny\r\nb\r\n",
  ),
  edits("CRLF: update", "a\r\nb\r\nc\r\n", [update(2, 2, "B")], "a\r\nB\r\nc\r\n"),
  edits("CRLF: remove", "a\r\nb\r\nc\r\n", [remove(2, 2)], "a\r\nc\r\n"),
  edits("CRLF: append", "a\r\nb\r\n", [insert(3, "x")], "a\r\nb\r\nx\r\n"),
  edits("LF: lines sent with CRLF", abc, [insert(2, "x\r\ny\r\n")], "a\nx\ny\nb\nc\n"),
  edits(
    "mixed, mostly LF: untouched lines keep their own",
    "a\r\nb\nc\n",
    [insert(2, "x")],
    "a\r\nx\nb\nc\n",
  ),
  edits(
    "mixed, mostly CRLF: lines put in take that",
    "a\nb\r\nc\r\n",
    [insert(2, "x")],
    "a\nx\r\nb\r\nc\r\n",
  ),
  edits(
    "mixed: an update in the middle",
    "1\r\n2\n3\r\n4\n5\r\n",
    [update(3, 3, "x")],
    "1\r\n2\nx\r\n4\n5\r\n",
  ),
  edits("mixed: removal touches no other ending", "1\r\n2\n3\r\n4\n", [remove(2, 2)], "1\r\n3\r\n4\n"),
  edits("a lone carriage return is part of its line", "a\rb\nc\n", [insert(2, "x")], "a\rb\nx\nc\n"),
  edits("no final newline: an edit above", "a\nb\nc", [update(1, 1, "A")], "A\nb\nc"),
  edits("no final newline: an insert above", "a\nb", [insert(1, "x")], "x\na\nb"),
  edits("no final newline: an insert before the last line", "a\nb", [insert(2, "x")], "a\nx\nb"),
  edits("no final newline: the last line updated", "a\nb", [update(2, 2, "B")], "a\nB"),
  edits("no final newline: the only line updated", "a", [update(1, 1, "A")], "A"),
  edits("no final newline: the only line updated to several", "a", [update(1, 1, "x\ny\n")], "x\ny"),
  edits("no final newline: an append", "a\nb", [insert(3, "x")], "a\nb\nx"),
  edits("no final newline: CRLF and an append", "a\r\nb", [insert(3, "x")], "a\r\nb\r\nx"),
  edits("no final newline: the only line, and an append", "a", [insert(2, "x")], "a\nx"),
  edits("no final newline: a removal above", "a\nb\nc", [remove(1, 2)], "c"),
  edits("no final newline: the last line removed", "a\nb\nc", [remove(3, 3)], "a\nb"),
  edits("no final newline: the last line removed, behind an empty line", "a\n\nb", [remove(3, 3)], "a\n\n"),
  edits("no final newline: everything removed", "a\nb", [remove(1, 2)], ""),
  edits("a byte order mark stays before the first line", "\ufeffa\nb\n", [update(2, 2, "B")], "\ufeffa\nB\n"),
  edits("a byte order mark stays first", "\ufeffa\nb\n", [insert(1, "x")], "\ufeffx\na\nb\n"),
  edits(
    "a byte order mark stays when line 1 is updated",
    "\ufeffa\nb\n",
    [update(1, 1, "A")],
    "\ufeffA\nb\n",
  ),
  edits(
    "a byte order mark that is sent back is not doubled",
    "\ufeffa\nb\n",
    [update(1, 1, "\ufeffA")],
    "\ufeffA\nb\n",
  ),
  edits("a byte order mark is no text to replace", "\ufeffa\n", [replace("\\W", "-")], "\ufeffa-"),
  edits("a byte order mark stays when all text goes", "\ufeffa", [replace("(?s)^.*$", "b")], "\ufeffb"),
  edits("the text begins behind the byte order mark", "\ufeffa\n", [replace("\\Aa", "b")], "\ufeffb\n"),
  edits("a byte order mark stays when line 1 is removed", "\ufeffa\nb\n", [remove(1, 1)], "\ufeffb\n"),
  edits("a NUL is a byte like others", "a\0\nb\n", [update(2, 2, "B")], "a\0\nB\n"),
  edits(
    "separators that are no line breaks",
    "a\u2028b\u0085c\vd\fe\n",
    [insert(1, "x")],
    "x\na\u2028b\u0085c\vd\fe\n",
  ),
];

const overlaps: Case[] = [
  refuses("two removals of one line", abc, [remove(1, 2), remove(2, 3)], ["C210", "both cover line"]),
  refuses(
    "an update in a removal",
    "1\n2\n3\n4\n",
    [remove(1, 4), update(2, 3, "x")],
    ["C210", "both cover line"],
  ),
  refuses(
    "an update of the same line twice",
    abc,
    [update(2, 2, "x"), update(2, 2, "y")],
    ["C210", "both cover line"],
  ),
  refuses("two inserts at one line", abc, [insert(2, "x"), insert(2, "y")], ["C210", "both cover line"]),
  refuses(
    "two inserts behind the last line",
    abc,
    [insert(4, "x"), insert(4, "y")],
    ["C210", "both cover line"],
  ),
  refuses("an insert in a removal", abc, [remove(1, 3), insert(2, "x")], ["C210", "both cover line"]),
  refuses(
    "an insert at the first line of a removal",
    abc,
    [remove(2, 3), insert(2, "x")],
    ["C210", "both cover line"],
  ),
  refuses(
    "an insert at the last line of an update",
    abc,
    [update(1, 2, "y"), insert(2, "x")],
    ["C210", "both cover line"],
  ),
  refuses(
    "an overlap of the first and last of three",
    "1\n2\n3\n4\n",
    [remove(1, 3), insert(4, "x"), update(3, 3, "y")],
    ["C210", "both cover line"],
  ),
];

const ranges: Case[] = [
  refuses("insert at line 0", abc, [insert(0, "x")], ["C210", "at_line", "0"]),
  refuses("insert two behind the last line", abc, [insert(5, "x")], ["C210", "at_line", "5", "3"]),
  refuses("insert at line 2 of an empty file", "", [insert(2, "x")], ["C210", "at_line"]),
  refuses("remove from line 0", abc, [remove(0, 1)], ["C210", "from_line", "0"]),
  refuses("remove backwards", abc, [remove(3, 2)], ["C210", "from_line", "to_line"]),
  refuses("remove to beyond the end", abc, [remove(2, 4)], ["C210", "to_line", "4", "3"]),
  refuses("remove beyond the end", abc, [remove(4, 4)], ["C210", "3"]),
  refuses("remove line 1 of an empty file", "", [remove(1, 1)], ["C210"]),
  refuses("update from line 0", abc, [update(0, 0, "x")], ["C210", "from_line", "0"]),
  refuses("update backwards", abc, [update(2, 1, "x")], ["C210", "from_line", "to_line"]),
  refuses("update beyond the end", abc, [update(3, 4, "x")], ["C210", "to_line", "4", "3"]),
  refuses("the greatest line number", abc, [insert(4294967295, "x")], ["C210", "4294967295"]),
  refuses("a final newline begins no line", "a\n", [update(2, 2, "x")], ["C210"]),
  refuses("one bad op spoils the good ones", abc, [insert(1, "x"), remove(9, 9)], ["C210"]),
  refuses("no ops", abc, [], ["C210", "ops"]),
];

const replaces: Case[] = [
  edits("every match", "foo bar foo\nfoo\n", [replace("foo", "baz")], "baz bar baz\nbaz\n"),
  edits("no match", abc, [replace("z", "x")], abc),
  edits("a deletion", "a b c\n", [replace(" ", "")], "abc\n"),
  edits("ignore_case", "Foo FOO foo\n", [replace("foo", "x", { ignore_case: true })], "x x x\n"),
  edits("ignore_case false", "Foo foo\n", [replace("foo", "x", { ignore_case: false })], "Foo x\n"),
  edits(
    "ignore_case of characters that are not ASCII",
    "É\u212a\n",
    [replace("ék", "x", { ignore_case: true })],
    "x\n",
  ),
  edits("a numbered group", "ab\n", [replace("(a)(b)", "$2$1")], "ba\n"),
  edits("a numbered group in braces", "ab\n", [replace("(a)(b)", "${2}1${1}2")], "b1a2\n"),
  edits("a group's name ends at a dash", "ab\n", [replace("(a)b", "$1-x")], "a-x\n"),
  edits("a named group", "2024-11\n", [replace("(?<y>\\d+)-(?P<m>\\d+)", "$m/$y")], "11/2024\n"),
  edits("a named group in braces", "ab\n", [replace("(?<first>a)b", "${first}_x")], "a_x\n"),
  edits("a group that did not take part is empty", "b\n", [replace("(a)?b", "[$1]")], "[]\n"),
  edits("$0 is the match", "ab\n", [replace("a.", "<$0>")], "<ab>\n"),
  edits("$$ is a dollar sign", "a\n", [replace("a", "$$1")], "$1\n"),
  edits("a dollar sign before nothing that is a name", "a\n", [replace("a", "$ $- $")], "$ $- $\n"),
  edits("a backslash in the replacement is literal", "a\n", [replace("a", "\\1\\n")], "\\1\\n\n"),
  edits("line breaks in the replacement", "a;b\n", [replace(";", "\n")], "a\nb\n"),
  edits("a match across lines", "a\nb\nc\n", [replace("a\\nb", "x")], "x\nc\n"),
  edits("^ and $ mean the file", "a\na\n", [replace("^a", "x"), replace("a\\n$", "y\n")], "x\ny\n"),
  edits("(?m) makes them mean lines", "a\nb\na\n", [replace("(?m)^a$", "x")], "x\nb\nx\n"),
  edits("(?R) knows CRLF", "a\r\nb\r\n", [replace("(?mR)^(.)$", "<$1>")], "<a>\r\n<b>\r\n"),
  edits("a dot is no line break", "a\nb\n", [replace("a.b", "x")], "a\nb\n"),
  edits("(?s) makes it one", "a\nb\n", [replace("(?s)a.b", "x")], "x\n"),
  edits("(?x)", "ab\n", [replace("(?x) a  b # both", "x")], "x\n"),
  edits("empty matches", "abc", [replace("x*", "-")], "-a-b-c-"),
  edits("empty matches between characters that are not ASCII", "é😀", [replace("x*", "-")], "-é-😀-"),
  edits("an empty file", "", [replace("^", "x")], "x"),
  edits("a Unicode class", "aβγd\n", [replace("\\p{Greek}+", "-")], "a-d\n"),
  edits("a word boundary", "té été\n", [replace("\\bté", "x")], "x été\n"),
  edits("line endings elsewhere stay", "a\r\nb\nc\r\n", [replace("b", "B")], "a\r\nB\nc\r\n"),
  edits("a byte order mark stays", "\ufeffa\n", [replace("a", "b")], "\ufeffb\n"),
  edits("the final newline may go", "a\n", [replace("\\n\\z", "")], "a"),
  edits("replaces run in order", "a\n", [replace("a", "b"), replace("b", "c")], "c\n"),
  edits(
    "replaces run behind line ops, wherever they stand",
    "a\nb\n",
    [replace("b", "c"), insert(1, "b"), update(2, 2, "bb")],
    "c\na\ncc\n",
  ),
  edits("line ops do not see what replaces do", "a\nb\n", [replace("\\n", ""), insert(3, "x")], "abx"),
  edits(
    "a pattern that kills others",
    `${"a".repeat(30)}b\n`,
    [replace("(a+)+$", "x")],
    `${"a".repeat(30)}b\n`,
  ),
];

const patterns: Case[] = [
  refuses("an empty pattern", abc, [replace("", "x")], ["C210", "pattern", "empty"]),
  ...[
    ["a look-ahead", "a(?=b)"],
    ["a negative look-ahead", "a(?!b)"],
    ["a look-behind", "(?<=a)b"],
    ["a back-reference", "(a)\\1"],
    ["an unclosed group", "(a"],
    ["an unclosed class", "[a"],
    ["a repetition of nothing", "*"],
    ["a size beyond measure", "(?:a{1000}){1000}{1000}"],
  ].map(([name, pattern]) => refuses(`${name} is no pattern`, abc, [replace(pattern!, "x")], ["C210"])),
  refuses("a bad pattern behind a good line op", abc, [insert(1, "x"), replace("(", "x")], ["C210"]),
  refuses("a bad pattern behind a good replace", abc, [replace("a", "x"), replace("(", "x")], ["C210"]),
];

const foreignText = (before: string): TreeEntry => Buffer.from(before, "latin1");

const foreign: Case[] = [
  batch(
    "a line op leaves foreign bytes on other lines alone",
    { a: foreignText("\xff\xfe\nb\n\xc0") },
    [{ path: "a", ops: [update(2, 2, "B")] }],
    {
      results: [
        { ...updated("a", 1, "\ufffd\ufffd\nb\n\ufffd", "\ufffd\ufffd\nB\n\ufffd"), new_line_count: 3 },
      ],
      tree: { a: foreignText("\xff\xfe\nB\n\xc0") },
    },
  ),
  batch(
    "a replace in a file that is not UTF-8",
    { a: foreignText("a\xff\n") },
    [{ path: "a", ops: [replace("a", "b")] }],
    {
      results: [failed("a", "C210", "UTF-8")],
      tree: {},
    },
  ),
];

const secrets: Tree = { ".env": "denied-secret\n", "secrets/x": "x\n", ln: { link: ".env" }, a: "a\n" };
const out: Tree = {
  "../outside/secret.txt": "outside-secret\n",
  dead: { link: "none" },
  file: { link: "../outside/secret.txt" },
  folder: { link: "../outside" },
  loop: { link: "loop" },
};

const paths: Case[] = [
  batch("the path is echoed as it was sent", { "s/a": "a\n" }, [{ path: "./s//a", ops: [remove(1, 1)] }], {
    results: [updated("./s//a", 1, "a\n", "")],
    tree: { "s/a": "" },
  }),
  batch(
    "through a link, which stays",
    { "s/a": "a\n", ln: { link: "s/a" } },
    [{ path: "ln", ops: [insert(1, "x")] }],
    {
      results: [updated("ln", 1, "a\n", "x\na\n")],
      tree: { "s/a": "x\na\n" },
    },
  ),
  batch(
    "through a link to a folder",
    { "s/a": "a\n", ln: { link: "<base>/s" } },
    [{ path: "ln/a", ops: [insert(1, "x")] }],
    {
      results: [updated("ln/a", 1, "a\n", "x\na\n")],
      tree: { "s/a": "x\na\n" },
    },
  ),
  batch(
    "a hard link leaves the file outside alone",
    { "../outside/x": "x\n", a: { hardlink: "../outside/x" } },
    [{ path: "a", ops: [insert(1, "new")] }],
    {
      results: [updated("a", 1, "x\n", "new\nx\n")],
      tree: { a: "new\nx\n" },
    },
  ),
  ...[0o755, 0o600, 0o666, 0o640].map((mode) =>
    batch(
      `mode ${mode.toString(8)} is kept`,
      { a: { text: "a\n", mode } },
      [{ path: "a", ops: [insert(1, "x")] }],
      {
        results: [updated("a", 1, "a\n", "x\na\n")],
        tree: { a: { text: "x\na\n", mode } },
      },
    ),
  ),
  refusesPath("a read-only file", { a: { text: "a\n", mode: 0o444 } }, "a", ["C216"]),
  refusesPath("a file that is still being written", { ".coder-tmp-x": "half\n" }, ".coder-tmp-x", ["C211"]),
  refusesPath("a missing file", { a: "a\n" }, "missing", ["C211", "not found"]),
  refusesPath("a file in a missing folder", {}, "missing/a", ["C211"]),
  refusesPath("a path through a file", { a: "a\n" }, "a/b", ["C211"]),
  refusesPath("a file with a slash behind it", { a: "a\n" }, "a/", ["C211"]),
  refusesPath("a folder", { "s/a": "a\n" }, "s", ["C210", "regular file"]),
  refusesPath("the base", { a: "a\n" }, ".", ["C210"]),
  refusesPath("a FIFO does not block", { pipe: { fifo: true } }, "pipe", ["C210", "regular file"]),
  ...[".env", "secrets/x", "ln", "secrets/missing", "./a/../.env"].map((path) =>
    refusesPath(`${path} is denied`, secrets, path, ["C211", "not found"]),
  ),
  ...[
    "../outside/secret.txt",
    "..",
    "file",
    "folder/secret.txt",
    "dead",
    "loop",
    "none/../../outside/secret.txt",
  ].map((path) => refusesPath(`${path} leads out or nowhere`, out, path, ["C215"])),
  refusesPath("an empty path", {}, "", ["C210", "empty"]),
  refusesPath("an absolute path", { a: "a\n" }, "<base>/a", ["C210", "absolute"]),
  refusesPath("a NUL", { a: "a\n" }, "a\0", ["C210"]),
];

const limited = (one: Case, config: Readonly<Record<string, number | boolean>>): Case => ({ ...one, config });

/** The documented deviation from 0.2.0 (decision 4): a template names only groups that the pattern has. */
const strictGroups: Case[] = [
  ["$1x", "(a)", ["$1x", "${0}, ${1}"]],
  ["$9", "a", ["$9", "${0};"]],
  ["${nme}", "(?<name>a)", ["${nme}", "${0}, ${name}"]],
].map(([replacement, pattern, words]) =>
  refuses(
    `${replacement} names no group of ${pattern}`,
    abc,
    [replace("b", "c"), replace(pattern as string, replacement as string)],
    ["C210", ...(words as string[])],
  ),
);

/** The behaviour of 0.2.0, which a key of the configuration restores. */
const lenientGroups: Case[] = [
  edits("a group's name is the longest run", "ab\n", [replace("(a)b", "$1x")], "\n"),
  edits("an unknown group is empty", "ab\n", [replace("a", "[$9$none${none}]")], "[]b\n"),
].map((one) => limited(one, { refuse_undefined_groups: false }));

const definedGroups: Case[] = [
  edits(
    "what names the groups that there are, or none",
    "ab\n",
    [replace("(?<first>a)(x)?b", "$0$first${1}[$2]$$3 $")],
    "abaa[]$3 $\n",
  ),
];

const limits: Case[] = [
  limited(
    edits(
      "as large as max_write_bytes before and after",
      "0123\n5678\n",
      [update(2, 2, "abcd")],
      "0123\nabcd\n",
    ),
    { max_write_bytes: 10 },
  ),
  limited(
    refuses(
      "larger than max_write_bytes before",
      "0123\n56789\n",
      [remove(1, 1)],
      ["C213", "max_write_bytes", "10"],
    ),
    { max_write_bytes: 10 },
  ),
  limited(
    refuses(
      "larger than max_write_bytes after",
      "0123\n5678\n",
      [update(2, 2, "56789")],
      ["C213", "max_write_bytes", "10"],
    ),
    { max_write_bytes: 10 },
  ),
  limited(
    refuses(
      "larger than max_write_bytes after a replace",
      "aaaaa\n",
      [replace("a", "xxx")],
      ["C213", "max_write_bytes"],
    ),
    { max_write_bytes: 10 },
  ),
  limited(
    refuses(
      "a replacement that multiplies",
      "a".repeat(1000),
      [replace("a", "x".repeat(1000)), replace("x", "y".repeat(1000))],
      ["C213"],
    ),
    {
      max_write_bytes: 5000,
    },
  ),
  limited(
    batch(
      "before and after are cut at max_read_bytes, between characters",
      { a: "éééé\n" },
      [{ path: "a", ops: [update(1, 1, "aééé")] }],
      {
        results: [{ ...updated("a", 1, "éé", "aéé"), new_line_count: 1 }],
        tree: { a: "aééé\n" },
      },
    ),
    { max_read_bytes: 5 },
  ),
  limited(edits("before and after as large as max_read_bytes", "0123\n", [update(1, 1, "abcd")], "abcd\n"), {
    max_read_bytes: 5,
  }),
  limited(
    refusesPath("a denied file is not told apart by its size", { ".env": "denied-secret\n" }, ".env", [
      "C211",
    ]),
    { max_write_bytes: 5 },
  ),
];

const batches: Case[] = [
  batch(
    "several files, in order",
    { a: "a\n", b: "b\n" },
    [
      { path: "b", ops: [insert(1, "x")] },
      { path: "a", ops: [remove(1, 1)] },
    ],
    { results: [updated("b", 1, "b\n", "x\nb\n"), updated("a", 1, "a\n", "")], tree: { a: "", b: "x\nb\n" } },
  ),
  batch(
    "one file twice is edited twice",
    { a: "a\n" },
    [
      { path: "a", ops: [insert(1, "x")] },
      { path: "./a", ops: [insert(1, "y")] },
    ],
    {
      results: [updated("a", 1, "a\n", "x\na\n"), updated("./a", 1, "x\na\n", "y\nx\na\n")],
      tree: { a: "y\nx\na\n" },
    },
  ),
  batch(
    "one entry fails, the others go on",
    { a: "a\n", b: "b\n", c: "c\n", "s/x": "x\n", ".env": "1\n" },
    [
      { path: "a", ops: [insert(1, "x")] },
      { path: "b", ops: [insert(9, "x")] },
      { path: "missing", ops: [insert(1, "x")] },
      { path: ".env", ops: [insert(1, "x")] },
      { path: "../x", ops: [insert(1, "x")] },
      { path: "s", ops: [insert(1, "x")] },
      { path: "b", ops: [replace("(", "x")] },
      { path: "b", ops: [] },
      { path: "c", ops: [replace("c", "C")] },
    ],
    {
      results: [
        updated("a", 1, "a\n", "x\na\n"),
        failed("b", "C210", "at_line"),
        failed("missing", "C211"),
        failed(".env", "C211"),
        failed("../x", "C215"),
        failed("s", "C210"),
        failed("b", "C210"),
        failed("b", "C210"),
        updated("c", 1, "c\n", "C\n"),
      ],
      tree: { a: "x\na\n", c: "C\n" },
    },
  ),
];

const file = { path: "a.txt", ops: [insert(1, "x")] };

const envelope = (name: string, payload: unknown, ...says: string[]): Case => ({
  name,
  tree: { "a.txt": "a\n", "sub/b.txt": "b\n" },
  call: { function: id, payload },
  expect: { error: failure("C210", ...says) },
});

const withOp = (op: unknown) => ({ files: [{ path: "a.txt", ops: [insert(1, "x"), op] }] });

const payloads: Case[] = [
  ...notAnObject(id),
  envelope("files is missing", {}, "files"),
  envelope("files is empty", { files: [] }, "files", "empty"),
  ...wrongTypes({
    function: id,
    field: "files",
    takes: ["an array"],
    says: ["files", "array"],
    payload: (files) => ({ files }),
  }),
  ...wrongTypes({
    function: id,
    field: "files[1]",
    takes: ["an object"],
    says: ["files", "1", "object"],
    payload: (value) => ({ files: [file, value] }),
  }),
  ...wrongTypes({
    function: id,
    field: "path",
    takes: ["a string"],
    says: ["path", "string"],
    payload: (path) => ({ files: [{ ...file, path }] }),
  }),
  ...wrongTypes({
    function: id,
    field: "ops",
    takes: ["an array"],
    says: ["ops", "array"],
    payload: (ops) => ({ files: [file, { ...file, ops }] }),
  }),
  ...wrongTypes({
    function: id,
    field: "ops[1]",
    takes: ["an object"],
    says: ["ops", "1", "object"],
    payload: withOp,
  }),
  envelope("path is missing", { files: [{ ops: [insert(1, "x")] }] }, "path"),
  envelope("ops is missing", { files: [{ path: "a.txt" }] }, "ops"),
  envelope("op is missing", withOp({ at_line: 1, content: "x" }), "op"),
  ...["append", "constructor", "__proto__", "Insert", ""].map((op) =>
    envelope(
      `op is ${JSON.stringify(op)}`,
      withOp({ op, at_line: 1, from_line: 1, to_line: 1, content: "x" }),
      "op",
      "insert",
      "remove",
      "update_lines",
      "replace",
    ),
  ),
  ...wrongTypes({
    function: id,
    field: "op",
    takes: [],
    says: ["op"],
    payload: (op) => withOp({ ...insert(1, "x"), op }),
  }),
  envelope("at_line is missing", withOp({ op: "insert", content: "x" }), "at_line"),
  envelope("insert without content", withOp({ op: "insert", at_line: 1 }), "content"),
  envelope("from_line is missing", withOp({ op: "remove", to_line: 1 }), "from_line"),
  envelope("to_line is missing", withOp({ op: "remove", from_line: 1 }), "to_line"),
  envelope(
    "update_lines without content",
    withOp({ op: "update_lines", from_line: 1, to_line: 1 }),
    "content",
  ),
  envelope("pattern is missing", withOp({ op: "replace", replacement: "x" }), "pattern"),
  envelope("replacement is missing", withOp({ op: "replace", pattern: "x" }), "replacement"),
  ...wrongTypes({
    function: id,
    field: "at_line",
    takes: ["a number"],
    says: ["at_line", "whole number"],
    payload: (at_line) => withOp({ ...insert(1, "x"), at_line }),
  }),
  ...["from_line", "to_line"].flatMap((field) => [
    ...wrongTypes({
      function: id,
      field: `remove's ${field}`,
      takes: ["a number"],
      says: [field, "whole number"],
      payload: (value) => withOp({ ...remove(1, 1), [field]: value }),
    }),
    ...wrongTypes({
      function: id,
      field: `update_lines' ${field}`,
      takes: ["a number"],
      says: [field, "whole number"],
      payload: (value) => withOp({ ...update(1, 1, "x"), [field]: value }),
    }),
  ]),
  ...wrongTypes({
    function: id,
    field: "insert's content",
    takes: ["a string"],
    says: ["content", "string"],
    payload: (content) => withOp({ ...insert(1, "x"), content }),
  }),
  ...wrongTypes({
    function: id,
    field: "update_lines' content",
    takes: ["a string"],
    says: ["content", "string"],
    payload: (content) => withOp({ ...update(1, 1, "x"), content }),
  }),
  ...["pattern", "replacement"].flatMap((field) =>
    wrongTypes({
      function: id,
      field,
      takes: ["a string"],
      says: [field, "string"],
      payload: (value) => withOp({ ...replace("a", "b"), [field]: value }),
    }),
  ),
  ...wrongTypes({
    function: id,
    field: "ignore_case",
    takes: ["a boolean"],
    says: ["ignore_case", "true or false"],
    payload: (value) => withOp(replace("a", "b", { ignore_case: value })),
  }),
  ...[-1, 4294967296, 1e21].flatMap((line) => [
    envelope(`at_line is ${line}`, withOp(insert(line, "x")), "at_line"),
    envelope(`to_line is ${line}`, withOp(remove(1, line)), "to_line"),
  ]),
  {
    ...batch(
      "unknown fields are ignored",
      { a: "a\n" },
      payloadOf(
        '[{"path":"a","encoding":1,"ops":[{"op":"insert","at_line":1,"content":"x","from_line":"y","__proto__":{"op":"remove"}}]}]',
      ),
      {
        results: [updated("a", 1, "a\n", "x\na\n")],
        tree: { a: "x\na\n" },
      },
    ),
  },
];

export const cases: readonly Case[] = [
  ...inserts,
  ...removes,
  ...updates,
  ...mixtures,
  ...endings,
  ...overlaps,
  ...ranges,
  ...replaces,
  ...patterns,
  ...foreign,
  ...paths,
  ...strictGroups,
  ...lenientGroups,
  ...definedGroups,
  ...limits,
  ...batches,
  ...payloads,
];
