import { describe, expect, test } from "bun:test";
import { refusalOf, type Texts } from "./patch.test-kit.ts";

const v4a = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const diff = (...lines: string[]) => ["--- a/f", "+++ b/f", ...lines, ""].join("\n");

const body = "a\nb\nc\nb\nd\n";

type Case = readonly [what: string, before: Texts, patch: string, message: RegExp];

const malformed: readonly Case[] = [
  ["nothing", {}, "", /names no file/],
  ["prose", {}, "Please change f.", /names no file/],
  [
    "one line with escapes",
    {},
    "*** Begin Patch\\n*** Update File: f\\n-a\\n+b\\n*** End Patch",
    /one line .* real line breaks/,
  ],
  ["a patch that is cut off", { f: body }, "*** Begin Patch\n*** Update File: f\n-a\n+", /may be missing/],
  ["a section without a name", {}, v4a("*** Update File:", "-a"), /Line 2 .* does not name a file/],
  [
    "a move to no name",
    { f: body },
    v4a("*** Update File: f", "*** Move to: "),
    /Line 3 .* does not name a file/,
  ],
  ["a file without hunks", { f: body }, v4a("*** Update File: f"), /changes nothing/],
  ["@@ without lines", { f: body }, v4a("*** Update File: f", "@@ a"), /no line of a hunk is below/],
  ["a line of a hunk without its sign", { f: body }, v4a("*** Update File: f", "-a", "b"), /Line 4 .*"b"/],
  [
    "a line of a new file without its sign",
    {},
    v4a("*** Add File: f", "+a", "b"),
    /Line 4 .* begins with "\+"/,
  ],
  ["lines below a file that goes", { f: body }, v4a("*** Delete File: f", "-a"), /Line 3/],
  ["lines before the first file", { f: body }, v4a("-a", "+b", "*** Update File: f", "-a", "+b"), /Line 2/],
  ["a hunk of no file", { f: body }, "@@ -1 +1 @@\n-a\n+b\n", /no file is named above/],
  [
    "a hunk behind prose",
    { f: body },
    `${diff("@@ -1 +1 @@", "-a", "+x")}and\n@@ -2 +2 @@\n-b\n+c\n`,
    /no file is named above/,
  ],
  ["a hunk without lines", { f: body }, diff("@@ -1 +1 @@"), /no line of a hunk is below/],
  ["prose in a hunk", { f: body }, diff("@@ -1,9 +1,9 @@", "-a", "...", "+x"), /Line 5 .*"\.\.\."/],
  ["two names", { f: body }, "--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+x\n", /"f" and "g".*rename from/],
  [
    "no file on both sides",
    {},
    "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+x\n",
    /does not name a file/,
  ],
  ["quotes that are not closed", {}, '--- "a/f\n+++ "b/f\n@@ -1 +1 @@\n-a\n+x\n', /does not name a file/],
  [
    "a name that is not UTF-8",
    {},
    '--- "a/\\377"\n+++ "b/\\377"\n@@ -1 +1 @@\n-a\n+x\n',
    /does not name a file/,
  ],
  [
    "a context diff",
    {},
    "*** f.old\n--- f\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n@@ -1 @@\n",
    /context diff/,
  ],
  ["old lines in a new file", {}, "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n b\n", /new file/],
  [
    "a file that goes in part",
    { f: body },
    "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
    /3 lines are left/,
  ],
  [
    "a binary file",
    {},
    "diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n",
    /a binary file/,
  ],
  [
    "bytes of git",
    {},
    "diff --git a/f b/f\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmPO\n",
    /a binary file/,
  ],
  [
    "a link",
    {},
    "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n",
    /a symbolic link/,
  ],
  [
    "a submodule",
    {},
    "diff --git a/s b/s\nnew file mode 160000\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject\n",
    /a submodule/,
  ],
  [
    "a merge",
    {},
    "diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n",
    /a merge/,
  ],
];

describe("a refusal of a patch for", () => {
  test.each(malformed)("%s", (_, before, patch, message) => {
    const refusal = refusalOf(before, patch);
    expect(refusal.reason).toBe("bad-input");
    expect(refusal.message).toMatch(message);
  });
});

test("a format that the patch has not is named", () => {
  expect(refusalOf({ f: body }, diff("@@ -1 +1 @@", "-a", "+x"), "v4a").message).toContain("format v4a");
  expect(refusalOf({ f: body }, v4a("*** Update File: f", "-a", "+x"), "unified").message).toContain(
    "format unified",
  );
});

test("a hunk that does not fit is explained by what is like it", () => {
  const refusal = refusalOf(
    { "s.ts": "const one = 1;\nconst two = 2;\nconst three = 3;\n" },
    v4a("*** Update File: s.ts", "@@", " const one = 1;", "-const tow = 2;", "+const two = 22;"),
  );
  expect([refusal.reason, refusal.path]).toEqual(["text-not-found", "s.ts"]);
  expect(refusal.message).toStartWith(
    'Hunk 1 of "s.ts" (lines 4 to 6 of the patch) does not fit; most like it are lines 1 to 2',
  );
  expect(refusal.message).toContain('Line 2 is "const·two·=·2;", and the hunk has "const·tow·=·2;"');
  expect(refusal.details).toMatchObject({
    hunk: 1,
    patch_lines: [4, 6],
    differs: "none",
    candidates: [{ from_line: 1, to_line: 2 }],
  });
});

test("what a hunk differs in is named", () => {
  const refusal = refusalOf({ f: "say 'it'\nand go\n" }, v4a("*** Update File: f", "-say ‘it’", "+say it"));
  expect(refusal.details).toMatchObject({ differs: "unicode-quotes" });
});

test("a hunk that fits in several places is ambiguous", () => {
  const refusal = refusalOf({ f: body }, v4a("*** Update File: f", "-b", "+x"));
  expect([refusal.reason, refusal.path]).toEqual(["ambiguous", "f"]);
  expect(refusal.message).toContain("fits in 2 places, first in lines 2, 4;");
  expect(refusal.details).toMatchObject({ hunk: 1, candidates: [{ from_line: 2 }, { from_line: 4 }] });
});

test("only of places with the same text does a line number choose one", () => {
  const before = { f: " a\nb\n  a\n" };
  expect(refusalOf(before, diff("@@ -1 +1 @@", "-a", "+x")).reason).toBe("ambiguous");
});

test("a line number that is off by nearly as much for two places chooses none", () => {
  const before = { f: "b\n1\n2\n3\n4\n5\nb\n" };
  expect(refusalOf(before, diff("@@ -4 +4 @@", "-b", "+x")).reason).toBe("ambiguous");
  expect(refusalOf(before, diff("@@ -3 +3 @@", "-b", "+x")).reason).toBe("ambiguous");
});

test("a place that fits exactly comes before others that fit but for blanks", () => {
  expect(refusalOf({ f: "x\n  x\nx\n" }, v4a("*** Update File: f", "-x", "+y")).details).toMatchObject({
    candidates: [{ from_line: 1 }, { from_line: 3 }],
  });
});

test("a heading that is nowhere is explained", () => {
  const refusal = refusalOf(
    { f: "def load(self):\n    x\n" },
    v4a("*** Update File: f", "@@ def laod(self):", "-    x", "+    y"),
  );
  expect(refusal.reason).toBe("text-not-found");
  expect(refusal.message).toMatch(/below "@@ def laod\(self\):".*most like it is line 1/);
});

test("a hunk that fits only before its heading does not fit", () => {
  const refusal = refusalOf(
    { f: "  x\ndef f():\n  z\n" },
    v4a("*** Update File: f", "@@ def f():", "-  x", "+  y"),
  );
  expect(refusal.reason).toBe("text-not-found");
  expect(refusal.message).toContain("fits elsewhere than it says: what it shows is line 1");
});

test("a hunk that fits twice below its heading is ambiguous", () => {
  const before = { f: "def f():\n  x\n  x\ndef g():\n  x\n" };
  expect(refusalOf(before, v4a("*** Update File: f", "@@ def f():", "-  x", "+  y")).message).toContain(
    "fits in 2 places",
  );
});

test("a hunk that ends before the end of the file is not at its end", () => {
  const refusal = refusalOf({ f: "a\nb\n" }, v4a("*** Update File: f", "-a", "+x", "*** End of File"));
  expect(refusal.message).toMatch(/fits elsewhere .* Leave "\*\*\* End of File" out/);
});

test.each([
  ["V4A", v4a("*** Update File: f", "@@", "+x")],
  ["unified", diff("@@ -2,0 +3 @@", "+x")],
])("lines to add without any around have no place, in the format %s", (_, patch) => {
  expect(refusalOf({ f: body }, patch).message).toContain("nothing says where");
});

test("two hunks that change the same lines are refused", () => {
  const refusal = refusalOf({ f: body }, v4a("*** Update File: f", "-a", "+x", "@@", "-a", "-b", "+y"));
  expect(refusal.message).toMatch(
    /^Hunk 2 of "f" .* changes lines that hunk 1 changes too \(lines 3 to 4 of the patch\)/,
  );
});
