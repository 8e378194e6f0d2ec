/** Compares a replacement in a tree with replacements in its files one by one. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { createLog } from "../base/log/log.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { createInvoke } from "../calls/invoke.ts";
import { createCodec, type Encoding } from "../text/encodings/codec.ts";
import { defaultConfig } from "./config.ts";
import { replace } from "./replace.ts";
import { openCoder } from "./services.ts";
import { updateFile } from "./update-file.ts";

const line = fc.constantFrom("foo", "Foo bar", "x.y", "foofoo", "", "bar$1", "(a)", "é foo");
const ending = fc.constantFrom("\n", "\r\n", "\r");
const encoding = fc.constantFrom<Encoding | undefined>(undefined, undefined, "utf-8", "utf-16le", "utf-16be");
const content = fc
  .tuple(fc.array(line, { maxLength: 6 }), ending, fc.boolean(), encoding)
  .map(([lines, end, hasEnd, marked]) => {
    const text = lines.join(end) + (hasEnd && lines.length > 0 ? end : "");
    return Buffer.from(marked === undefined ? text : createCodec(marked).encode(`\ufeff${text}`));
  });
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

/** Returns the op that makes the replacement in one file. */
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

const log = createLog({ level: "error", form: "text", write: () => undefined });

/** Opens a worker with an empty folder. */
async function open() {
  const base = mkdtempSync(join(tmpdir(), "coder-"));
  const journal = { dir: mkdtempSync(join(tmpdir(), "state-")), max_bytes: 2 ** 20, max_records: 9 };
  const config = { ...defaultConfig(), profile: "agent" as const, base_path: base, journal };
  const runtime = await openCoder({ ...config, fsync: false }, { environment: {} });
  const invoke = createInvoke(runtime, log);
  return {
    /** Replaces the contents of the folder by these files, and returns the answers of calls. */
    async callOn(files: Record<string, Buffer>, ...calls: readonly [FunctionDefinition, object][]) {
      for (const name of readdirSync(base)) rmSync(join(base, name), { recursive: true });
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(join(base, dirname(path)), { recursive: true });
        writeFileSync(join(base, path), content);
      }
      const outcomes: unknown[] = [];
      for (const [definition, payload] of calls) outcomes.push(await invoke(definition, payload));
      return outcomes;
    },
    contents: () => paths.map((path) => [path, readFileSync(join(base, path), "latin1")]),
    async close() {
      await runtime.close();
      for (const folder of [base, journal.dir]) rmSync(folder, { recursive: true });
    },
  };
}

const [one, other] = [await open(), await open()];
afterAll(async () => {
  await one.close();
  await other.close();
});

test("a replacement in a tree is that in each file", async () => {
  await fc.assert(
    fc.asyncProperty(tree, replacement, async (files, sent) => {
      const [outcome] = await one.callOn(files, [replace, sent]);
      const byHand = paths.map((path) => ({ path, ops: [opOf(sent)] }));
      await other.callOn(files, [updateFile, { files: byHand }]);
      const { answer } = outcome as { answer?: { files: readonly object[] } };
      if (sent.query !== sent.replacement)
        expect(outcome).toHaveProperty("answer.committed", answer !== undefined && answer.files.length > 0);
      expect(one.contents()).toEqual(other.contents());
    }),
    propertyRuns(120),
  );
});
