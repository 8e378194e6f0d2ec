/** A replacement in a tree leaves the bytes that replacing in each file by hand leaves. */
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { snapshotTree } from "../../tests/harness/tree.ts";
import { callWith, type FunctionCall } from "./call-with.test-kit.ts";

const line = fc.constantFrom("foo", "Foo bar", "x.y", "foofoo", "", "bar$1", "(a)", "é foo");
const ending = fc.constantFrom("\n", "\r\n");
const content = fc
  .tuple(fc.array(line, { maxLength: 6 }), ending, fc.boolean())
  .map(([lines, end, hasEnd]) => lines.join(end) + (hasEnd && lines.length > 0 ? end : ""));
const paths = ["a.txt", "b.md", "d/c.txt", "d/e/f.txt", ".hidden"];
const tree = fc.record(Object.fromEntries(paths.map((path) => [path, content])));

const replacement = fc.oneof(
  fc.record({
    query: fc.constantFrom("foo", "FOO", "x.y", "foo\n", "(a)", "bar$1", "o"),
    replacement: fc.constantFrom("", "$1", "new", "foo", "a\nb", "$$"),
    ignore_case: fc.boolean(),
  }),
  fc.record({
    query: fc.constantFrom(
      "fo+",
      "^foo",
      "foo$",
      "(?m)^foo$",
      "(f)(o+)",
      "o\\s*f",
      "\\bfoo\\b",
      "x.y",
      "foo\\n",
      "[^\\n]\n",
    ),
    replacement: fc.constantFrom("", "<$0>", "new", "a\nb"),
    ignore_case: fc.boolean(),
    regex: fc.constant(true),
  }),
);

type Sent = typeof replacement extends fc.Arbitrary<infer One> ? One : never;

/** The op that makes the replacement in one file. */
function opOf(sent: Sent): object {
  if ("regex" in sent)
    return {
      op: "replace",
      pattern: sent.query,
      replacement: sent.replacement,
      ignore_case: sent.ignore_case,
    };
  if (!sent.ignore_case)
    return { op: "str_replace", old_str: sent.query, new_str: sent.replacement, replace_all: true };
  const pattern = sent.query.replace(/[.()$]/g, "\\$&");
  return { op: "replace", pattern, replacement: sent.replacement.replaceAll("$", "$$$$"), ignore_case: true };
}

test("a replacement in a tree is that in each file", async () => {
  await fc.assert(
    fc.asyncProperty(tree, replacement, async (files, sent) => {
      const roots = [0, 1].map(() => realpathSync(mkdtempSync(join(tmpdir(), "coder-"))));
      const [one, other] = roots as [string, string];
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(one, "base", dirname(path)), { recursive: true });
        writeFileSync(join(one, "base", path), text);
      }
      cpSync(join(one, "base"), join(other, "base"), { recursive: true });
      const profile = { profile: "agent" as const };
      const [outcome] = await callWith(one, profile, ["coder::replace", sent]);
      const byHand = paths.map(
        (path): FunctionCall => ["coder::update-file", { files: [{ path, ops: [opOf(sent)] }] }],
      );
      await callWith(other, profile, ...byHand);
      const contents = (root: string) =>
        [...snapshotTree(root)].flatMap(([path, entry]) =>
          path.startsWith("..") || entry.kind !== "file" ? [] : [[path, String(entry.content)]],
        );
      if (sent.query !== sent.replacement) expect(outcome).toHaveProperty("answer.committed", true);
      expect(contents(one)).toEqual(contents(other));
      for (const root of roots) rmSync(root, { recursive: true });
    }),
    { numRuns: 60 },
  );
}, 120_000);
