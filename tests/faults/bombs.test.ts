/**
 * Calls that would run forever or use up all memory. Each is answered with a code or with its result so far,
 * and a small call made after it does not wait for it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { buildTree } from "../harness/tree.ts";
import {
  codesOf,
  type DriverFixture,
  type DriverOutcome,
  outcomeFaults,
  startDriver,
  withDriver,
} from "./driver-fixture.ts";

const mebibyte = 1024 * 1024;
const letters = "a".repeat(mebibyte);

const tree = {
  "small.txt": "small\n",
  "letters.txt": `${letters}!`,
  "few.txt": "a".repeat(64 * 1024),
  "words.txt": "lorem ipsum dolor sit amet ".repeat(mebibyte / 27),
  "lines.txt": "abcdefghijklmnopqrstuvwxyz\n".repeat(mebibyte / 27),
  [`names/${"a".repeat(250)}b`]: "",
  [`names/${"ab".repeat(120)}`]: "",
};

let driven: DriverFixture;
beforeAll(async () => {
  driven = await startDriver({ tree, config: { call_timeout_ms: 250 } });
});
afterAll(() => driven.stop());

/**
 * Makes the call, and a small one right after it. Returns the outcome of the first, which must be well-formed
 * and leave nothing open, and which of the two was answered first.
 */
async function explode(
  functionId: string,
  payload: unknown,
  worker = driven,
): Promise<{ outcome: DriverOutcome; first: string }> {
  const { held } = await worker.measure();
  const order: string[] = [];
  const bomb = worker.call(functionId, payload).finally(() => order.push("bomb"));
  const small = worker.call("coder::read-file", { path: "small.txt" }).finally(() => order.push("small"));
  expect((await small).answer).toMatchObject({ path: "small.txt" });
  const outcome = await bomb;
  expect(outcomeFaults(outcome, { functionId, payload, root: worker.root })).toEqual([]);
  expect(await heldSoon(worker, held)).toBe(held);
  return { outcome, first: order[0]! };
}

/**
 * Returns the number of held files and folders as soon as it is at most `few`, or after 20 s: an aborted call
 * takes a moment to release them.
 */
async function heldSoon(worker: DriverFixture, few: number): Promise<number> {
  for (const until = performance.now() + 20_000; ; ) {
    const { held } = await worker.measure();
    if (held <= few || performance.now() > until) return held;
  }
}

/** Shortens a bomb to a title. */
const title = (bomb: string): string => (bomb.length > 40 ? `${bomb.slice(0, 40)}… (${bomb.length})` : bomb);

const replace = (path: string, pattern: string, replacement = "x") => ({
  files: [{ path, ops: [{ op: "replace", pattern, replacement }] }],
});

const patterns = [
  "(a+)+$",
  "(.*)*x",
  "\\s+$",
  "(?:a{1,1000}){1,1000}",
  "(\\w{1,100}){1,50}",
  "(?:(?:\\w{1,30}){1,30}){1,30}z",
  "(a|aa)*b",
  "[a-z]*[a-z]*[a-z]*[a-z]*q",
  "(?i)(\\p{L}{1,50}){1,20}\\d",
  `${"(".repeat(10_000)}a${")".repeat(10_000)}`,
  "a".repeat(100_000),
];

describe("patterns", () => {
  const onBodies = patterns.flatMap((pattern) =>
    ["letters.txt", "words.txt"].map((path) => [title(pattern), path, pattern] as const),
  );
  test.each(onBodies)("replace %s in %s", async (_, path, pattern) => {
    buildTree(driven.root, tree);
    const { outcome } = await explode("coder::update-file", replace(path, pattern));
    expect(["", "C210", "C216"]).toContain(codesOf(outcome)[0]!);
  });

  test.each(patterns.map((query) => [title(query), query]))("search %s", async (_, query) => {
    const { outcome } = await explode("coder::search", { query, regex: true, max_line_bytes: 4 * mebibyte });
    expect([undefined, "C210", "C216"]).toContain(codesOf(outcome)[0]);
  });

  test("a replacement that multiplies is refused at the limit", async () => {
    buildTree(driven.root, tree);
    const { outcome } = await explode("coder::update-file", replace("few.txt", "a", "$0".repeat(1000)));
    expect(["C213", "C216"]).toContain(codesOf(outcome)[0]!);
    const nested = Array.from({ length: 40 }, () => ({ op: "replace", pattern: "a", replacement: "aa" }));
    const again = await explode("coder::update-file", { files: [{ path: "small.txt", ops: nested }] });
    expect(["C213", "C216"]).toContain(codesOf(again.outcome)[0]!);
  });
});

const globs = [
  "*a".repeat(60),
  "*a*a*a*a*a*a*a*a*b",
  "**/".repeat(100),
  "{a,b}".repeat(25),
  `${"{a,".repeat(200)}b${"}".repeat(200)}`,
  "{*a,*b}".repeat(30),
  "?*".repeat(100),
  "[a-z]*".repeat(100),
  "a".repeat(1_000_000),
  "*".repeat(1_000_000),
];

test.each(globs.map((glob) => [title(glob), glob]))("the glob %s", async (_, glob) => {
  for (const field of ["include_globs", "exclude_globs"]) {
    const { outcome } = await explode("coder::search", {
      query: "a",
      search_content: false,
      [field]: [glob],
    });
    expect([undefined, "C210"]).toContain(codesOf(outcome)[0]);
  }
});

test("the most that globs may be, on paths made for them, and one character more", async () => {
  const most = "?*".repeat(2048);
  const paths = Array.from({ length: 8 }, (_, n) => `long/${`${"ab".repeat(120 - n)}/`.repeat(14)}a`);
  const long = { ...tree, ...Object.fromEntries(paths.map((path) => [path, ""])) };
  // A deadline that neither call exceeds, however busy the machine is.
  await withDriver({ tree: long, config: { call_timeout_ms: 10_000 } }, async (patient) => {
    for (const field of ["include_globs", "exclude_globs"]) {
      const search = { query: "a", search_content: false };
      const { outcome, first } = await explode("coder::search", { ...search, [field]: [most] }, patient);
      expect({ codes: codesOf(outcome), first }).toEqual({ codes: [], first: "small" });
      const over = await explode("coder::search", { ...search, [field]: [most, "a"] }, patient);
      expect(codesOf(over.outcome)).toEqual(["C210"]);
      expect(over.outcome.error).toContain(field);
      expect(over.outcome.error).toContain("longer than 4096 characters together");
    }
  });
});

/**
 * Ignore files up to their maximum size and beyond, which are expensive to match with the names of the test.
 */
const ignoreFiles = {
  stars: "*a".repeat(3900),
  "rows of stars": `${"*a".repeat(30)}b\n`.repeat(125),
  classes: "[!a]*".repeat(3500),
  folders: "**/a/".repeat(1900),
  braces: "{a,b}".repeat(3500),
  "braces in braces": "{".repeat(4000),
  "open classes": "[".repeat(130_000),
  blanks: `${" ".repeat(130_000)}x`,
  names: Array.from({ length: 8000 }, (_, number) => `aaaaaaa${number}`).join("\n"),
  "too much": "*a\n".repeat(1_000_000),
};

test.each(Object.entries(ignoreFiles))("an ignore file of %s", async (_, text) => {
  const names = Array.from({ length: 50 }, (_, number) => `ignored/${"a".repeat(200)}${number}`);
  const files = Object.fromEntries(names.map((name) => [name, ""]));
  buildTree(driven.root, { ...tree, ...files, "ignored/.gitignore": text, ".ignore": text.slice(0, 100) });
  for (const functionId of ["coder::search", "coder::tree"]) {
    const payload = { query: "a", path: "ignored", respect_gitignore: true };
    const { outcome } = await explode(functionId, payload);
    expect([undefined, "C216"]).toContain(codesOf(outcome)[0]);
  }
  buildTree(driven.root, tree);
});

test("10,000 globs", async () => {
  const include_globs = Array.from({ length: 10_000 }, (_, index) => `*${index}*/**/x{a,b}`);
  const { outcome } = await explode("coder::search", { query: "a", search_content: false, include_globs });
  expect([undefined, "C210", "C216"]).toContain(codesOf(outcome)[0]);
});

describe("payloads", () => {
  const batches: Readonly<Record<string, readonly [string, unknown]>> = {
    "100,000 replace ops": [
      "coder::update-file",
      {
        files: [
          {
            path: "small.txt",
            ops: Array.from({ length: 100_000 }, () => ({
              op: "replace",
              pattern: "small",
              replacement: "small",
            })),
          },
        ],
      },
    ],
    "300,000 paths": ["coder::delete-file", { paths: Array.from({ length: 300_000 }, () => "none") }],
    "100,000 files without ops": [
      "coder::update-file",
      { files: Array.from({ length: 100_000 }, () => ({ path: "small.txt", ops: [] })) },
    ],
    "100,000 files that exist": [
      "coder::create-file",
      { files: Array.from({ length: 100_000 }, () => ({ path: "small.txt", content: "x" })) },
    ],
  };

  test.each(Object.entries(batches))("%s", async (_, [functionId, payload]) => {
    buildTree(driven.root, { "small.txt": "small\n" });
    const { outcome, first } = await explode(functionId, payload);
    const codes = new Set(codesOf(outcome));
    for (const code of codes) expect(["", "C210", "C213", "C216", "C217"]).toContain(code);
    if (outcome.error === undefined) expect(first).toBe("small");
  });
});

/** Searches for a "z" to the end of the line from each letter, which is quadratic in any engine. */
const quadratic = ".*z|a";

/** More files than there can be threads that replace. */
const letterFiles = Array.from({ length: 10 }, (_, index) => `letters${index}.txt`);

test("patterns that take longer than a call may take leave threads for others, however many they were", () =>
  withDriver(
    {
      tree: { "small.txt": "small\n", ...Object.fromEntries(letterFiles.map((path) => [path, letters])) },
      config: { call_timeout_ms: 1000 },
    },
    async (driven) => {
      for (let round = 1; round <= 2; round++) {
        const bombs = letterFiles.map((path) => driven.call("coder::update-file", replace(path, quadratic)));
        for (const bomb of bombs) expect(codesOf(await bomb)).toEqual(["C216"]);
      }
      const quick = await driven.call("coder::update-file", replace("small.txt", "small", "large"));
      expect(codesOf(quick)).toEqual([""]);
    },
  ));

/** Needs its own process, which must hold nothing afterwards. */
test("a pattern that takes longer than a call may take is given up on, and the file is free again", () =>
  withDriver({ tree: { "letters.txt": letters }, config: { call_timeout_ms: 1000 } }, async (driven) => {
    const { held } = await driven.measure();
    const bomb = replace("letters.txt", quadratic);
    expect(codesOf(await driven.call("coder::update-file", bomb))).toEqual(["C216"]);
    expect((await driven.measure()).held).toBe(held);
    const edit = { files: [{ path: "letters.txt", ops: [{ op: "insert", at_line: 1, content: "x" }] }] };
    expect(codesOf(await driven.call("coder::update-file", edit))).toEqual([""]);
    expect(codesOf(await driven.call("coder::update-file", replace("letters.txt", "x", "y")))).toEqual([""]);
  }));
