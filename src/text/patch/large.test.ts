import { expect, spyOn, test } from "bun:test";
import { Refusal } from "../../base/errors.ts";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { applyHunks } from "./apply.ts";
import { maxComparisons } from "./comparisons.ts";
import { readNamePair } from "./file-names.ts";
import { parsePatch } from "./parse.ts";

/** Bytes of a hostile text. Work that grows faster than the text would not end with these either. */
const most = 1024 * 1024;
const filled = (text: string, bytes = most): string => text.repeat(Math.floor(bytes / text.length));

/** Returns the number of steps, and the result. */
function run<T>(steps: Steps<T>): { count: number; value: T | Refusal } {
  for (let count = 1; ; count++) {
    try {
      const { done, value } = steps.next();
      if (done) return { count, value };
    } catch (error) {
      if (error instanceof Refusal) return { count, value: error };
      throw error;
    }
  }
}

/** Returns the file after the first file of a patch. */
function* patchedBy(text: string, body: string): Steps<Buffer> {
  const patch = yield* parsePatch(Buffer.from(text), "auto");
  let after: Buffer = Buffer.from(body);
  for (const file of patch.files) after = (yield* applyHunks(after, file, patch)).body;
  return after;
}

const v4a = (lines: string) => `*** Begin Patch\n*** Update File: f\n${lines}*** End Patch\n`;
const unified = (lines: string) => `--- a/f\n+++ b/f\n${lines}`;

const hostile: readonly (readonly [what: string, patch: string, body: string])[] = [
  ["blank lines", filled("\n"), ""],
  ["one line", filled("x"), ""],
  ["blank lines in place of hunks", v4a(filled("\n")), "a\n"],
  ["blank lines before a hunk", unified(`${filled("\n")}@@ -1 +1 @@\n-a\n+b\n`), "a\n"],
  [
    "blank lines between hunks",
    unified(`@@ -1 +1 @@\n-a\n+b\n${filled("\n")}@@ -3 +3 @@\n-a\n+b\n`),
    "a\n\na\n",
  ],
  ["blank lines in a hunk", v4a(`@@\n${filled("\n")}-a\n`), "a\n"],
  ["headings", v4a(`${filled("@@ a\n", 200_000)}-b\n`), "a\nb\n"],
  ["hunks without lines", unified(filled("@@\n", 140_000)), "a\n"],
  ["hunks of one line", v4a(filled("@@\n-a\n+b\n", 400_000)), "a\n"],
  ["hunks that say the same place", unified(filled("@@ -1 +1 @@\n-a\n+b\n", 800_000)), "a\n"],
  ["more lines with @@ than may be", v4a(`${filled("@@ a\n")}-b\n`), "a\nb\n"],
  ["files", filled("*** Add File: f\n"), ""],
  ["names", filled("--- a/f\n+++ b/f\n"), ""],
  ["headers of git", filled("diff --git a/f b/f\n"), ""],
  ["quotes", `diff --git ${filled('"\\\\')}\n--- a\n+++ a\n@@\n-a\n`, "a\n"],
  ["octal bytes", `--- "${filled("\\303\\244", most / 4)}"\n+++ "x"\n@@\n-a\n`, "a\n"],
  ["marks without lines", unified(`@@ -1 +1 @@\n${filled("\\ x\n")}`), "a\n"],
  ["lines that nearly repeat", v4a(`@@\n${filled(" a\n", 350_000)} b\n-a\n`), filled("a\n", 700_000)],
  ["a period that breaks off", v4a(`@@\n${filled(" a\n b\n", 350_000)}-b\n`), filled("a\nb\n", 700_000)],
  ["headings that are everywhere", v4a(`@@ a\n@@ a\n@@ a\n-b\n`), filled("a\n", 700_000)],
  [
    "deeper and deeper headings",
    v4a("@@ a\n-b\n"),
    Array.from({ length: 3000 }, (_, at) => `${" ".repeat(at)}a\n`).join(""),
  ],
  ["tabs after a name", `--- a/f${filled("\t")}\n+++ b/f${filled("\t")}\n@@\n-a\n+b\n`, "a\n"],
];

test.each(hostile)("1 MiB of %s end", (_, patch, body) => {
  const { value } = run(patchedBy(patch, body));
  expect(Buffer.isBuffer(value) || value instanceof Refusal).toBe(true);
});

const fewSteps = 1000;
const numbered = (line: (at: number) => string) =>
  Array.from({ length: fewSteps }, (_, at) => line(at)).join("");
const headers: readonly (readonly [what: string, patch: string])[] = [
  ["without hunks", numbered((at) => `diff --git a/${at} b/${at}\nnew file mode 100644\n`)],
  ["with ambiguous names", numbered(() => `diff --git ${"x ".repeat(4095)}y\nrename from a\nrename to b\n`)],
  [
    "that name a file again and again",
    `diff --git a/a b/a\n${"rename from a\n".repeat(fewSteps)}rename to b\n`,
  ],
  ["of the format V4A", `*** Begin Patch\n${numbered((at) => `*** Add File: ${at}\n`)}*** End Patch\n`],
];

test.each(headers)("headers %s take a step each", (_, patch) => {
  expect(run(parsePatch(Buffer.from(patch), "auto")).count).toBeGreaterThan(fewSteps);
});

test("names with thousands of blanks are divided without trying each blank", () => {
  const slice = spyOn(String.prototype, "slice");
  expect(readNamePair(`${"x ".repeat(4095)}y`)).toBe(undefined);
  const blanks = `/${"x ".repeat(1000)}y`;
  expect(readNamePair(`a${blanks} b${blanks}`)).toEqual([`a${blanks}`, `b${blanks}`]);
  const { length: slices } = slice.mock.calls;
  slice.mockRestore();
  expect(slices).toBeLessThan(50);
});

test("long lines that begin like markers take steps by their bytes", () => {
  const lines = `*** ${"ж".repeat(7500)}\n`.repeat(1000);
  expect(run(parsePatch(Buffer.from(lines), "auto")).count).toBeGreaterThan(25);
});

test.each([
  ["names a file", "--- a/f"],
  ["begins a hunk", "@@ "],
  ["begins a hunk of V4A", "*** Begin Patch\n*** Update File: f\n@@ "],
])("a line that %s and is longer than any header is refused", (_, start) => {
  const text = unified(`@@ -1 +1 @@\n-a\n+b\n${start}${"@".repeat(70_000)}\n+++ b/f\n@@\n-a\n`);
  const patch = start.startsWith("***") ? text.slice(text.indexOf("***")) : text;
  expect(run(parsePatch(Buffer.from(patch), "auto")).value).toMatchObject({
    reason: "bad-input",
    message: expect.stringContaining("65536"),
  });
});

test("many hunks in any order are applied, and their places said, in steps", () => {
  const hunks = Array.from({ length: 20_000 }, (_, at) => `@@ -${2 * at + 2} +${2 * at + 2} @@\n-a\n+b\n`);
  const body = `x\n${"a\ny\n".repeat(20_000)}`;
  const wanted = `x\n${"b\ny\n".repeat(20_000)}`;
  for (const order of [hunks, hunks.toReversed(), [...hunks.slice(10_000), ...hunks.slice(0, 10_000)]]) {
    const { count, value } = run(patchedBy(unified(order.join("")), body));
    expect(String(value)).toBe(wanted);
    expect(count).toBeGreaterThan(3 * hunks.length);
  }
  const refused = run(parsePatch(Buffer.from(unified("@@ -1 +1 @@\n-a\n+b\n".repeat(50_001))), "auto"));
  expect(refused.value).toMatchObject({
    reason: "bad-input",
    message: expect.stringContaining("50001 lines"),
  });
});

test("the lines of a hunk are joined a few at a time", () => {
  const concat = spyOn(Buffer, "concat");
  run(patchedBy(v4a(`@@\n${filled(" a\n")}-b\n`), "x\n"));
  const most = Math.max(...concat.mock.calls.map(([parts]) => parts.length));
  concat.mockRestore();
  expect(most).toBeLessThan(50_000);
});

test("other places of a long hunk are found without comparing each with all lines of the hunk", () => {
  const context = " a\n".repeat(125_000);
  const patch = unified(`@@ -125000,250001 +125000,250001 @@\n${context}-a\n+b\n${context}`);
  const { value } = run(patchedBy(patch, "a\n".repeat(520_000)));
  expect(String(value).indexOf("b")).toBe(2 * (124_999 + 125_000));
});

test("a patch twice as long takes about twice as many steps", () => {
  const bodyOf = (lines: number) => Array.from({ length: lines }, (_, at) => `line ${at}\n`).join("");
  const patchOf = (lines: number) =>
    unified(
      Array.from({ length: lines }, (_, at) => `@@ -${at + 1} +${at + 1} @@\n-line ${at}\n+new ${at}\n`).join(
        "",
      ),
    );
  const [once, twice] = [20_000, 40_000].map((lines) => run(patchedBy(patchOf(lines), bodyOf(lines))));
  expect(twice!.count / once!.count).toBeLessThan(2.2);
  expect(String(twice!.value)).toStartWith("new 0\nnew 1\n");
});

const numbers = Array.from({ length: 12_000 }, (_, at) => String(at).padStart(5, "0"));
const everywhere: readonly (readonly [what: string, patch: string, body: string])[] = [
  [
    "below headings of their own",
    v4a(numbers.map((at) => `@@ head ${at}\n- x\n+ y\n`).join("")),
    numbers.map((at) => `head ${at}\n x\n z\n z\n`).join(""),
  ],
  [
    "below headings that are cut",
    v4a(numbers.map((at) => `@@ head ${at}\n- x\n+ y\n`).join("")),
    numbers.map((at) => `head ${at}, whole\n x\n`).join(""),
  ],
];

test.each(everywhere)(
  "hunks of lines that are everywhere, %s, end after some comparisons",
  (_, patch, body) => {
    const { value, count } = run(patchedBy(patch, body));
    expect(value).toMatchObject({
      reason: "ambiguous",
      message: expect.stringContaining("line comparisons"),
    });
    expect(count).toBeLessThan(maxComparisons / 1000);
  },
);

test("a large patch of a large file is applied", () => {
  const lines = Array.from({ length: 70_000 }, (_, at) => `line ${at}`);
  const patch = v4a(
    lines.map((line, at) => (at % 2 === 0 ? ` ${line}\n` : `-${line}\n+new ${at}\n`)).join(""),
  );
  const after = runAtOnce(patchedBy(patch, `${lines.join("\n")}\n`)).toString();
  expect(after).toBe(lines.map((line, at) => (at % 2 === 0 ? `${line}\n` : `new ${at}\n`)).join(""));
});
