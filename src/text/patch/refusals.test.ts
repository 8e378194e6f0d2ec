import { expect, test } from "bun:test";
import { patched, refusalOf } from "./patch.test-kit.ts";

const v4a = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const diff = (...lines: string[]) => ["--- a/f", "+++ b/f", ...lines, ""].join("\n");

const body = "a\nb\nc\nb\nd\n";

test("a format that the patch has not is named", () => {
  expect(refusalOf({ f: body }, diff("@@ -1 +1 @@", "-a", "+x"), { format: "v4a" }).message).toContain(
    "format v4a",
  );
  expect(
    refusalOf({ f: body }, v4a("*** Update File: f", "-a", "+x"), { format: "unified" }).message,
  ).toContain("format unified");
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
  const refusal = refusalOf({ f: "say &lt;it\nand go\n" }, v4a("*** Update File: f", "-say <it", "+say it"));
  expect(refusal.details).toMatchObject({ differs: "escape" });
});

test("a hunk that fits in several places is ambiguous", () => {
  const refusal = refusalOf({ f: body }, v4a("*** Update File: f", "-b", "+x"));
  expect([refusal.reason, refusal.path]).toEqual(["ambiguous", "f"]);
  expect(refusal.message).toContain("fits in 2 places, first in lines 2, 4;");
  expect(refusal.details).toMatchObject({ hunk: 1, candidates: [{ from_line: 2 }, { from_line: 4 }] });
});

test("only of places with the same text does a line number choose one", () => {
  const before = { f: " a\nb\n  a\n" };
  const refusal = refusalOf(before, diff("@@ -1 +1 @@", "-a", "+x"));
  expect(refusal.reason).toBe("ambiguous");
  expect(refusal.message).toContain(
    "fits exactly nowhere. But for blanks at both ends of its lines it fits in 2 places, first in lines 1, 3, and no line number chooses among such.",
  );
  expect(refusal.details).toMatchObject({
    differs: "indent",
    candidates: [{ from_line: 1 }, { from_line: 3 }],
  });
});

test.each([
  ["a  \nb\na \n", "a", "blanks at the ends of lines"],
  ["\u201ca\u201d\nb\n\u201ca\u201d\n", '"a"', "typographic characters"],
])("several places that fit only loosely are no exact fit: %j", (text, sent, words) => {
  const refusal = refusalOf({ f: text }, diff("@@ -1 +1 @@", `-${sent}`, "+x"));
  expect(refusal.message).toContain(`fits exactly nowhere. But for ${words}`);
});

test("a line number that is off by nearly as much for two places chooses none", () => {
  const before = { f: "b\n1\n2\n3\n4\n5\nb\n" };
  expect(refusalOf(before, diff("@@ -4 +4 @@", "-b", "+x")).reason).toBe("ambiguous");
  expect(refusalOf(before, diff("@@ -3 +3 @@", "-b", "+x")).reason).toBe("ambiguous");
});

/** A file of 100 lines. Lines 40 and 90 begin equal blocks. */
const twoBlocks = Array.from({ length: 100 }, (_, at) => {
  if (at === 39 || at === 89) return "begin\n";
  return at === 40 || at === 90 ? "end\n" : `line ${at + 1}\n`;
}).join("");

const blockDiff = (line: number) => diff(`@@ -${line},2 +${line},2 @@`, " begin", "-end", "+END");

test("a line number chooses among places only if it is near to one", () => {
  const refusal = refusalOf({ f: twoBlocks }, blockDiff(1));
  expect(refusal.message).toContain("fits in 2 places, first in lines 40, 90;");
  expect(refusalOf({ f: twoBlocks }, blockDiff(19)).reason).toBe("ambiguous");
  expect(refusalOf({ f: twoBlocks }, blockDiff(111)).reason).toBe("ambiguous");
  for (const [line, changed] of [
    [20, 41],
    [40, 41],
    [90, 91],
    [95, 91],
  ] as const) {
    const after = patched({ f: twoBlocks }, blockDiff(line)).f!.split("\n");
    expect(after.flatMap((text, at) => (text === "END" ? [at + 1] : []))).toEqual([changed]);
  }
});

test("a line number that was not counted does not lead back before the previous hunk", () => {
  const text = diff("@@ -1 +1 @@", "-line 50", "+LINE 50", "@@ -1,2 +1,2 @@", " begin", "-end", "+END");
  const after = patched({ f: twoBlocks }, text).f!.split("\n");
  expect([after[40], after[90]]).toEqual(["end", "END"]);
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
  expect(refusal.message).toMatch(/fits elsewhere .* Leave out "\*\*\* End of File"/);
});

test.each([
  ["without a number", diff("@@", "+x")],
  ["with a number past the end", diff("@@ -9,0 +10 @@", "+x")],
])("lines to add without any around have no place %s", (_, patch) => {
  expect(refusalOf({ f: body }, patch).message).toContain("nothing says where");
});

test("two hunks that change the same lines are refused", () => {
  const refusal = refusalOf({ f: body }, v4a("*** Update File: f", "-a", "+x", "@@", "-a", "-b", "+y"));
  expect(refusal.message).toMatch(
    /^Hunk 2 of "f" .* changes lines that hunk 1 changes too \(lines 3 to 4 of the patch\)/,
  );
});
