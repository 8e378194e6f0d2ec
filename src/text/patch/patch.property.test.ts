import { expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { Refusal } from "../../base/errors.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { applyHunks } from "./apply.ts";
import { type FilePair, filePairs, unifiedHunks, v4aHunk, v4aHunks } from "./diff.test-kit.ts";
import { parsePatch } from "./parse.ts";

/** Returns the file after a patch of bytes that are written as Latin-1. */
function apply(before: string, text: string): string {
  const patch = runAtOnce(parsePatch(Buffer.from(text, "latin1"), "auto"));
  expect(patch.files).toHaveLength(1);
  return runAtOnce(applyHunks(Buffer.from(before, "latin1"), patch.files[0]!, patch)).body.toString("latin1");
}

const isChanged = ({ before, after }: FilePair): boolean => before !== after;

test("a unified diff gives the new file byte for byte", () => {
  const contexts = fc.integer({ min: 1, max: 4 });
  fc.assert(
    fc.property(filePairs().filter(isChanged), contexts, (pair, context) => {
      const hunks = unifiedHunks(pair, context);
      // A pure insertion shows nothing of an empty file.
      expect(apply(pair.before, `--- a/f\n+++ b/f\n${hunks}`)).toBe(pair.after);
    }),
    { numRuns: 3000 },
  );
});

test("a unified diff applied the other way round gives the old file byte for byte", () => {
  fc.assert(
    fc.property(filePairs().filter(isChanged), (pair) => {
      const parts = pair.parts.map((part) =>
        "kept" in part ? part : { removed: part.added, added: part.removed },
      );
      const back = { parts, before: pair.after, after: pair.before };
      expect(apply(back.before, `--- a/f\n+++ b/f\n${unifiedHunks(back, 3)}`)).toBe(back.after);
    }),
    { numRuns: 1000 },
  );
});

test("lines that were put before a file only move the hunks of its diff", () => {
  const distinct = { contents: Array.from({ length: 400 }, (_, at) => `line ${at}`), endings: ["\n"] };
  fc.assert(
    fc.property(filePairs(distinct).filter(isChanged), fc.integer({ min: 0, max: 50 }), (pair, lines) => {
      fc.pre(pair.parts.some((part) => !("added" in part) && part.kept.length > 0));
      const lead = Array.from({ length: lines }, (_, at) => `lead ${at}\n`).join("");
      const hunks = unifiedHunks(pair, 3);
      fc.pre(isUnique(pair) && /^[ -]/m.test(hunks));
      expect(apply(lead + pair.before, `--- a/f\n+++ b/f\n${hunks}`)).toBe(lead + pair.after);
    }),
    { numRuns: 500 },
  );
});

const isUnique = ({ before }: FilePair): boolean => {
  const lines = before.split("\n").slice(0, -1);
  return new Set(lines).size === lines.length;
};

/**
 * The lines that V4A can express: those that do not end in CR, of a file with a final newline if it has
 * lines.
 */
const plain = { contents: ["", "a", "b", " a", "a ", "@@", "*** End Patch"], endings: ["\n"] };

test("a patch in V4A that shows the whole file gives the new one", () => {
  fc.assert(
    fc.property(filePairs(plain).filter(isChanged), (pair) => {
      fc.pre(pair.before !== "" && hasSameEnd(pair));
      const patch = `*** Begin Patch\n*** Update File: f\n@@\n${v4aHunk(pair)}*** End of File\n*** End Patch\n`;
      expect(apply(pair.before, patch)).toBe(pair.after);
    }),
    { numRuns: 2000 },
  );
});

test("a patch in V4A gives the new file, or is refused", () => {
  let applied = 0;
  fc.assert(
    fc.property(filePairs(plain).filter(isChanged), (pair) => {
      fc.pre(pair.before !== "" && hasSameEnd(pair));
      try {
        const after = apply(
          pair.before,
          `*** Begin Patch\n*** Update File: f\n${v4aHunks(pair, 3)}*** End Patch\n`,
        );
        expect(after).toBe(pair.after);
        applied++;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
    }),
    { numRuns: 2000 },
  );
  expect(applied).toBeGreaterThan(200);
});

test("the end of a file without a final newline is a place like any other for a hunk without line numbers", () => {
  const lines = "a\nb\nc\n";
  const patch = "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+x\n*** End Patch\n";
  expect(() => apply(`${lines}a\nb`, patch)).toThrow(Refusal);
  expect(apply(`${lines}b`, patch)).toBe("a\nx\nc\nb");
  expect(apply("c\na\nb", patch)).toBe("c\na\nx");
  const atEnd = patch.replace("+x\n", "+x\n*** End of File\n");
  expect(apply(`${lines}a\nb`, atEnd)).toBe(`${lines}a\nx`);
});

/**
 * Returns whether both end with a newline, or neither: V4A cannot express a change of it. An empty last line
 * has one.
 */
const hasSameEnd = ({ before, after }: FilePair): boolean =>
  before.endsWith("\n") === after.endsWith("\n") && (before.endsWith("\n") || after !== "");

const words = [
  "*** Begin Patch\n",
  "*** End Patch\n",
  "*** Update File: f\n",
  "*** Add File: f\n",
  "*** Delete File: f\n",
].concat(
  [
    "*** Move to: g\n",
    "*** End of File\n",
    "@@\n",
    "@@ a\n",
    "@@ -1,2 +1 @@\n",
    "--- a/f\n",
    "+++ b/f\n",
    "+++ /dev/null\n",
  ],
  [
    "diff --git a/f b/f\n",
    'diff --git "a/f" b/f\n',
    "new file mode 100644\n",
    "rename from f\n",
    "rename to g\n",
    "old mode 1\n",
  ],
  [
    "\\ No newline at end of file\n",
    "```\n",
    "-- \n2.4\n",
    " a\n",
    "-a\n",
    "+a\n",
    "+b\r\n",
    "\n",
    "\r\n",
    " ",
    "-",
    "+",
    "\t",
    '"',
    "\0",
  ],
);

test("whatever is sent is applied or refused", () => {
  const garbage = fc.oneof(
    fc.array(fc.constantFrom(...words), { maxLength: 20 }).map((parts) => parts.join("")),
    fc
      .array(fc.oneof(fc.constantFrom(...words), fc.string({ unit: "binary" })), { maxLength: 20 })
      .map((parts) => parts.join("")),
  );
  const bodies = fc.array(fc.constantFrom("a\n", "b\n", "a\r\n", "\n", "a", " a\n"), { maxLength: 6 });
  fc.assert(
    fc.property(garbage, bodies, (text, lines) => {
      try {
        const patch = runAtOnce(parsePatch(Buffer.from(text), "auto"));
        for (const file of patch.files) runAtOnce(applyHunks(Buffer.from(lines.join("")), file, patch));
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        expect(error.message).toMatch(/^[^\n]+\.$/);
      }
    }),
    propertyRuns(5000),
  );
});
