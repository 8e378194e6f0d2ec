import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import type { BackendName } from "../filesystem/jail/folder.ts";
import { openSearcher, type RunSearch } from "./search.test-kit.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const closers: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closers) await close();
  rmSync(base, { recursive: true, force: true });
});

/** Replaces the contents of the base folder. */
function fill(tree: Readonly<Record<string, string | Buffer>>): void {
  rmSync(join(base, "tree"), { recursive: true, force: true });
  for (const [path, content] of Object.entries(tree)) {
    const file = join(base, "tree", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

function openAsk(backend: BackendName, threads: boolean): RunSearch {
  const { search: ask, close } = openSearcher(base, { backend, threads });
  closers.push(close);
  return ask;
}

const threaded = openAsk("openat", true);
const single = openAsk("openat", false);
const others = [single, openAsk("descriptors", true), openAsk("current-directory", true)];

const name = fc.constantFrom("a", "b", "a.b", "a-", "a0", "é", "x y", "Z");
const path = fc
  .array(name, { minLength: 1, maxLength: 4 })
  .map((names) => `${names.join("/")}/f${names.length}`);
const line = fc.constantFrom(
  "foo",
  "Foo bar",
  "",
  "ſ K",
  "é\r",
  "foo\0",
  "caf\xe9",
  "x".repeat(300),
  "\ufeffbar",
);
const content = fc.array(line, { maxLength: 12 }).map((lines) => Buffer.from(lines.join("\n")));
const trees = fc.dictionary(path, content, { maxKeys: 25 });
const requests = fc.record({
  pattern: fc.constantFrom("foo", "o+", "^$", "(?i)FOO|k", "x{100}", "\\w+\\b", "a/", "b"),
  regex: fc.boolean(),
  ignoreCase: fc.boolean(),
  maxMatches: fc.constantFrom(1000, 1000, 3, 1, 0),
  maxLineBytes: fc.constantFrom(4096, 50, 2),
  content: fc.boolean(),
  paths: fc.boolean(),
});

test("threads change no answer, nor does the way folders are held", async () => {
  await fc.assert(
    fc.asyncProperty(trees, fc.array(requests, { minLength: 1, maxLength: 4 }), async (tree, requested) => {
      fill(tree);
      for (const request of requested) {
        const answer = await threaded(request);
        for (const ask of others) expect(await ask(request)).toEqual(answer);
      }
    }),
    propertyRuns(50),
  );
});

test("a large tree: threads answer as one thread does, capped or not", async () => {
  const tree: Record<string, string> = {};
  for (let i = 0; i < 1000; i++) {
    tree[`d${i % 37}/e${i % 11}/f${i}`] = `${"word foo_bar\n".repeat(i % 50)}needle${i % 7}\nTODO ${i}\n`;
  }
  fill(tree);
  for (const pattern of ["needle3", "foo_bar", "TODO|needle[0-3]", "\\bfoo\\w+$", "f1\\d\\d\\b"]) {
    for (const maxMatches of [1_000_000, 1000, 10]) {
      const request = { pattern, regex: pattern.includes("\\") || pattern.includes("|"), maxMatches };
      expect(await threaded(request)).toEqual(await single(request));
    }
  }
});
