/**
 * The largest requests, field by field, and the most expensive work. During each call, small reads are sent
 * one after the other. The number answered before the large call does not depend on the speed of the machine.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functions } from "../../src/coder/functions.ts";
import { requestFieldsOf } from "../harness/request-fields.ts";
import {
  codesOf,
  type DriverFixture,
  type DriverOutcome,
  outcomeFaults,
  startDriver,
} from "./driver-fixture.ts";

const megabytes = 5;
const million = 1_000_000;

/** Words that differ, so that their n-grams do too. */
const words = Array.from({ length: (megabytes * million) / 8 }, (_, index) =>
  (Math.imul(index, 0x9e3779b1) >>> 0).toString(36).padStart(8, "x"),
).join("");

/** Minimum reads that must be answered during work that takes hundreds of slices. */
const fewestReads = 5;

const tree = { "small.txt": "small\n", "other.txt": "needle\n".repeat(100) };

const profiles = ["agent", "contract"] as const;

const state = mkdtempSync(join(tmpdir(), "coder-state-"));

const drivers = new Map<string, DriverFixture>();
beforeAll(async () => {
  for (const profile of profiles) {
    const journal = { dir: join(state, profile), max_bytes: 256 * 1024 * 1024, max_records: 500 };
    const config = { profile, index: "verified", journal };
    const driven = await startDriver({ tree, isVast: true, config });
    drivers.set(profile, driven);
    await driven.call("coder::search", { query: "needle" });
  }
});
afterAll(async () => {
  for (const driven of drivers.values()) await driven.stop();
  rmSync(state, { recursive: true });
});

/**
 * Makes a call, and small reads until it ends. Returns its outcome, which must be well-formed, and the number
 * of reads that were answered before it.
 */
async function callBesideReads(
  driven: DriverFixture,
  functionId: string,
  payload: unknown,
): Promise<{ outcome: DriverOutcome; reads: number }> {
  let outcome: DriverOutcome | undefined;
  const call = driven.call(functionId, payload).then((ended) => {
    outcome = ended;
  });
  let reads = 0;
  while (outcome === undefined) {
    const { answer } = await driven.call("coder::read-file", { path: "small.txt" });
    expect(answer).toMatchObject({ content: "small\n" });
    if (outcome === undefined) reads++;
  }
  await call;
  expect(outcomeFaults(outcome, { functionId, payload, root: driven.root })).toEqual([]);
  return { outcome, reads };
}

describe.each(profiles)("the largest value of each field, in the profile %s", (profile) => {
  /** Sizes up to the limits of fields, and far beyond. */
  const sizes = { String: [65_536, million], Array: [1000, 10_000], Record: [1000, 100_000] };
  const fields = functions.flatMap(({ id, request }) =>
    requestFieldsOf(request).map((field) => [`${id}${field.pointer}`, id, field] as const),
  );

  test.each(fields)("%s", async (_, id, { kind, largeValue, requestWith }) => {
    for (const size of sizes[kind])
      await callBesideReads(drivers.get(profile)!, id, requestWith(largeValue(size)));
  });
});

describe.each(profiles)("a query of 5 MB in the profile %s", (profile) => {
  const queries = {
    words,
    "open brackets": "[".repeat(megabytes * million),
    "names of folders": `${"a/".repeat((megabytes * million) / 2)}!`,
    "replacement characters": "\ufffdabc".repeat((megabytes * million) / 6),
  };

  test.each(Object.entries(queries))("of %s", async (_, query) => {
    for (const fields of [{}, { multiline: true }, { search_content: false }, { ignore_case: true }]) {
      const { outcome } = await callBesideReads(drivers.get(profile)!, "coder::search", { query, ...fields });
      expect([undefined, "C210"]).toContain(codesOf(outcome)[0]);
    }
  });
});

describe("a file of 250 MiB", () => {
  const large = { from: "large", to: "moved" };
  const back = { from: large.to, to: large.from };

  beforeAll(() => {
    const path = join(drivers.get("agent")!.base, large.from);
    writeFileSync(path, "");
    truncateSync(path, 250 * 1024 * 1024);
  });

  test.each([
    ["moved", "coder::move", large, large.to],
    ["moved in a transaction", "coder::transact", { changes: [{ op: "move", ...back }] }, large.from],
    ["moved by a patch", "coder::apply-patch", { patch: renaming(large) }, large.to],
    ["moved back by an undo", "coder::undo", {}, large.from],
    ["compared", "coder::checkpoints", { answer: "stat", limit: 4 }, large.from],
  ])("is %s", async (_, functionId, payload, place) => {
    const driven = drivers.get("agent")!;
    const { outcome, reads } = await callBesideReads(driven, functionId, payload);
    expect(codesOf(outcome).join("")).toBe("");
    expect(reads).toBeGreaterThanOrEqual(fewestReads);
    expect([large.from, large.to].filter((path) => existsSync(join(driven.base, path)))).toEqual([place]);
  });
});

/** Returns a patch that only renames a file. */
function renaming({ from, to }: { readonly from: string; readonly to: string }): string {
  return [
    `diff --git a/${from} b/${to}`,
    "similarity index 100%",
    `rename from ${from}`,
    `rename to ${to}`,
    "",
  ].join("\n");
}

describe("a search in a file with a million matches", () => {
  beforeAll(() => {
    writeFileSync(join(drivers.get("agent")!.base, "matches.txt"), "x\n".repeat(million));
  });

  test.each([
    ["that counts them", { query: "x", mode: "counts" }, million],
    ["that counts the other lines", { query: "y", mode: "counts", invert: true }, million],
    ["that counts those across two lines", { query: "\nx", mode: "counts", multiline: true }, million / 2],
  ])("%s", async (_, fields, count) => {
    const payload = { path: "matches.txt", ...fields };
    const { outcome, reads } = await callBesideReads(drivers.get("agent")!, "coder::search", payload);
    expect(outcome.answer).toMatchObject({ files: [{ path: "matches.txt", count }] });
    expect(reads).toBeGreaterThanOrEqual(fewestReads);
  });
});

describe("a comparison", () => {
  test("of two texts of a million lines", async () => {
    const driven = drivers.get("agent")!;
    writeFileSync(join(driven.base, "lines.txt"), "line\n".repeat(million));
    const ops = [1, million].map((line) => ({ op: "insert", at_line: line, content: "new" }));
    await driven.call("coder::update-file", { files: [{ path: "lines.txt", ops }] });
    const { outcome, reads } = await callBesideReads(driven, "coder::checkpoints", {
      answer: "stat",
      limit: 1,
    });
    const counted = { path: "lines.txt", added: 2, removed: 0 };
    expect(outcome.answer).toMatchObject({ checkpoints: [{ files: [counted] }] });
    expect(reads).toBeGreaterThanOrEqual(fewestReads);
  });

  test("of 9,000 files that another program has made", async () => {
    const driven = drivers.get("agent")!;
    const { answer } = await driven.call("coder::changes", {});
    const { next } = answer as { next: string };
    for (let folder = 0; folder < 90; folder++) {
      mkdirSync(join(driven.base, "made", String(folder)), { recursive: true });
      for (let file = 0; file < 100; file++)
        writeFileSync(join(driven.base, "made", String(folder), String(file)), "x\n");
    }
    for (const [form, net] of [
      ["names", [{ kind: "created", path: "made", files: 9000 }]],
      ["stat", { length: 1000 }],
    ] as const) {
      const payload = { since: next, answer: form, path: "made" };
      const { outcome, reads } = await callBesideReads(driven, "coder::changes", payload);
      expect(outcome.answer).toMatchObject({ overflow: false, net });
      expect(reads).toBeGreaterThanOrEqual(fewestReads);
    }
  });
});

/** A text whose every comparison with a run of "a" takes half of it, and that has the sum of such a run. */
const almostAlike = ["a", "a"].map((letter) => letter.repeat(2 * million)).join("`b");

test.each([
  [
    "a patch below a heading that thousands of ever deeper lines match",
    Array.from({ length: 4000 }, (_, at) => `${" ".repeat(at + 1)}a\n`).join(""),
    "coder::apply-patch",
    { patch: "*** Begin Patch\n*** Update File: long.txt\n@@ a\n-b\n*** End Patch\n" },
  ],
  [
    "a text whose first lines would be before the file",
    `let x = other;\n${"q\n".repeat(million)}`,
    "coder::update-file",
    editOf({ old_str: `${" \n".repeat(19_000)}let x = others;\n` }),
  ],
  [
    "a patch of 2,000 files with ambiguous names",
    "hello\n",
    "coder::apply-patch",
    { patch: `diff --git ${"x ".repeat(4095)}y\nrename from a\nrename to b\n`.repeat(2000) },
  ],
  [
    "a long text that is not there",
    "hello\n",
    "coder::update-file",
    editOf({ old_str: "aB".repeat(4 * million) }),
  ],
  [
    "a long text that is not there, with a replacement like its parts",
    almostAlike,
    "coder::update-file",
    editOf({ old_str: "a".repeat(8 * million), new_str: almostAlike }),
  ],
])("%s", async (_, content, functionId, payload) => {
  const driven = drivers.get("agent")!;
  writeFileSync(join(driven.base, "long.txt"), content);
  const { outcome, reads } = await callBesideReads(driven, functionId, payload);
  expect(JSON.stringify(outcome)).toMatch(/does not fit|changes 2000 files|old_str is not in/);
  expect(reads).toBeGreaterThanOrEqual(fewestReads);
});

/** Returns a request that replaces a text. */
function editOf(op: { readonly old_str: string; readonly new_str?: string }) {
  return { files: [{ path: "long.txt", ops: [{ op: "str_replace", new_str: "new", ...op }] }] };
}

test("8,000 files that another program rewrites and removes one by one", async () => {
  const driven = drivers.get("agent")!;
  const paths = Array.from({ length: 8000 }, (_, index) => join(driven.base, "theirs", String(index)));
  mkdirSync(join(driven.base, "theirs"));
  for (const path of paths) writeFileSync(path, "x");
  for (const [kind, change] of [
    ["modified", (path: string) => writeFileSync(path, "xx")],
    ["deleted", (path: string) => rmSync(path)],
  ] as const) {
    const { answer } = await driven.call("coder::changes", {});
    for (const path of paths) change(path);
    const payload = { since: (answer as { next: string }).next };
    const { outcome, reads } = await callBesideReads(driven, "coder::changes", payload);
    const { changes } = outcome.answer as { changes: { kind: string }[] };
    expect([...new Set(changes.map((one) => one.kind))]).toEqual([kind]);
    expect(reads).toBeGreaterThanOrEqual(fewestReads);
  }
});

describe.each(profiles)("the deepest paths, in the profile %s", (profile) => {
  const deepest = "d/".repeat(127);
  const many = Array.from({ length: 2000 }, (_, index) => `${deepest}${index}`);
  /** Goes 63 times into a missing folder and back. */
  const back = "x/../".repeat(63);

  test("are created, read, moved, explained and compared in steps", async () => {
    const driven = drivers.get(profile)!;
    const [file] = many;
    const created = { files: [{ path: file, content: "x\n", parents: true }] };
    const moved = { files: [{ from: "d", to: "e/d", parents: true }] };
    const edited = { path: `e/${file}`, content: "y\n", parents: true };
    const calls: [string, object, number?][] = [
      ["coder::read-file", { paths: many }, fewestReads],
      ["coder::create-file", created],
      ["coder::read-file", { paths: many.map((path) => `${path}/x`.slice(2)) }, fewestReads],
      [
        "coder::read-file",
        { paths: many.slice(0, 100).map((path) => `${deepest}${back}${path.slice(deepest.length)}`) },
        fewestReads,
      ],
      ["coder::delete-file", { paths: many.slice(1) }, fewestReads],
      ["coder::search", { query: "x", path: deepest }],
      ["coder::move", moved],
      ["coder::create-file", { files: [edited] }],
      ["coder::changes", {}],
      ["coder::delete-file", { paths: ["e"], recursive: true }],
    ];
    const undone: typeof calls = [
      ["coder::checkpoints", { answer: "stat", limit: 4 }],
      ["coder::undo", { steps: 3 }, fewestReads],
    ];
    for (const [functionId, payload, fewest = 0] of profile === "agent" ? [...calls, ...undone] : calls) {
      const { reads } = await callBesideReads(driven, functionId, payload);
      expect([functionId, reads >= fewest]).toEqual([functionId, true]);
    }
  });

  test("of 2,000 names are answered by every function, and end nothing", async () => {
    const driven = drivers.get(profile)!;
    const path = "a/".repeat(2000);
    const calls: [string, object, string][] = [
      ["coder::read-file", { path }, "C211"],
      ["coder::read-file", { paths: Array.from({ length: 20 }, () => path) }, "C211"],
      ["coder::list-folder", { path }, "C211"],
      ["coder::tree", { path }, "C211"],
      ["coder::search", { path, query: "x" }, "C211"],
      ["coder::create-file", { files: [{ path: `${path}b`, content: "x", parents: true }] }, "C210"],
      [
        "coder::update-file",
        { files: [{ path, ops: [{ op: "insert", at_line: 1, content: "x" }] }] },
        "C211",
      ],
      ["coder::move", { files: [{ from: path, to: "b" }] }, "C211"],
      ["coder::copy", { files: [{ from: "small.txt", to: `${path}b`, parents: true }] }, "C210"],
      ["coder::make-folder", { paths: [path] }, "C210"],
      ["coder::transact", { changes: [{ op: "create", path: `${path}b`, content: "x" }] }, "C210"],
      ["coder::apply-patch", { patch: `--- /dev/null\n+++ b/${path}b\n@@ -0,0 +1 @@\n+x\n` }, "C210"],
    ];
    for (const [functionId, payload, code] of calls) {
      const { outcome } = await callBesideReads(driven, functionId, payload);
      expect([functionId, [...new Set(codesOf(outcome))]]).toEqual([functionId, [code]]);
      expect(JSON.stringify(outcome).includes("128 new folders")).toBe(code === "C210");
    }
  });
});

describe("an undo", () => {
  let driven: DriverFixture;
  beforeAll(() => {
    driven = drivers.get("agent")!;
  });

  test("of folders that moves have made deeper than a creation may", async () => {
    const chain = "k/".repeat(100);
    const calls: [string, object][] = [
      ["coder::create-file", { files: [{ path: `one/${chain}f`, content: "x", parents: true }] }],
      ["coder::create-file", { files: [{ path: `two/${chain}f`, content: "y", parents: true }] }],
      ["coder::move", { files: [{ from: "one", to: `two/${chain}one` }] }],
      ["coder::delete-file", { paths: ["two"], recursive: true }],
      ["coder::undo", {}],
      ["coder::undo", {}],
      ["coder::undo", { steps: 1 }],
    ];
    for (const [functionId, payload] of calls)
      expect([functionId, codesOf(await driven.call(functionId, payload)).join("")]).toEqual([
        functionId,
        "",
      ]);
    const { answer } = await driven.call("coder::read-file", { path: `two/${chain}one/${chain}f` });
    expect(answer).toMatchObject({ content: "x" });
  });

  test("of 2,000 paths that all are in conflict", async () => {
    const paths = Array.from({ length: 2000 }, (_, index) => `many/${index % 100}/${index}.txt`);
    for (let from = 0; from < paths.length; from += 1000) {
      const files = paths.slice(from, from + 1000).map((path) => ({ path, content: "" }));
      await driven.call("coder::create-file", { files });
    }
    for (const path of paths) appendFileSync(join(driven.base, path), "x");
    for (const dry_run of [true, false]) {
      const { outcome, reads } = await callBesideReads(driven, "coder::undo", { dry_run, steps: 2 });
      expect(outcome.answer).toMatchObject({ undone: [], conflicts: { length: 100 } });
      expect(reads).toBeGreaterThanOrEqual(fewestReads);
    }
    const forced = await callBesideReads(driven, "coder::undo", { force: true, steps: 2 });
    const { undone } = forced.outcome.answer as { undone: { more: number; skipped: [] }[] };
    expect(undone.map(({ more, skipped }) => [more, ...skipped])).toEqual([
      [1000 - 100],
      [1000 + 100 + 1 - 100],
    ]);
    expect(forced.reads).toBeGreaterThanOrEqual(fewestReads);
  });

  test("of 10,000 paths that no checkpoint has changed", async () => {
    const paths = Array.from({ length: 10_000 }, (_, index) => `untouched/${index}`);
    const seqs = new Set<unknown>();
    for (let from = 0; from < 2000; from += 1000) {
      const files = paths.slice(from, from + 1000).map((path) => ({ path: `of-${path}`, content: "" }));
      const { answer } = await driven.call("coder::create-file", { files });
      seqs.add((answer as { checkpoint: number }).checkpoint);
    }
    for (const seq of seqs) {
      const payload = { seq, paths, dry_run: true };
      const { outcome, reads } = await callBesideReads(driven, "coder::undo", payload);
      expect(outcome.answer).toMatchObject({ untouched: paths.slice(0, 100) });
      expect(reads).toBeGreaterThanOrEqual(fewestReads);
    }
    const { outcome, reads } = await callBesideReads(driven, "coder::undo", { paths });
    expect(codesOf(outcome)).toHaveLength(1);
    expect(reads).toBeGreaterThanOrEqual(fewestReads);
  });

  test("of 32 changes that double a folder ten times", async () => {
    const calls: [string, object][] = [["coder::create-file", { files: [{ path: "a/x", content: "x" }] }]];
    for (let index = 0; index < 10; index++)
      calls.push(
        ["coder::copy", { from: "a", to: "b" }],
        ["coder::move", { from: "b", to: `a/${index}` }],
        ["coder::create-file", { files: [{ path: `mark${index}`, content: "" }] }],
      );
    calls.push(["coder::make-folder", { path: "empty" }]);
    for (const [functionId, payload] of calls)
      expect(codesOf(await driven.call(functionId, payload)).join("")).toBe("");
    const { outcome, reads } = await callBesideReads(driven, "coder::undo", { steps: calls.length });
    expect(outcome.answer).toMatchObject({ conflicts: [], undone: { length: calls.length } });
    expect(reads).toBeGreaterThanOrEqual(fewestReads);
    const { answer } = await driven.call("coder::list-folder", { path: "." });
    const names = (answer as { entries: { name: string }[] }).entries.map(({ name }) => name);
    for (const name of ["a", "b", "empty", "mark0"]) expect(names).not.toContain(name);
  });
});

describe("an answer about very many entries", () => {
  const deep = Array.from({ length: 250 }, () => "a".repeat(14)).join("/");
  let driven: DriverFixture;
  beforeAll(() => {
    driven = drivers.get("agent")!;
    mkdirSync(join(driven.base, "wide"));
    for (let file = 0; file < 20_000; file++) writeFileSync(join(driven.base, "wide", String(file)), "x\n");
    mkdirSync(join(driven.base, deep), { recursive: true });
    for (let file = 0; file < 100; file++) writeFileSync(join(driven.base, deep, String(file)), "");
  });
  afterAll(() => {
    for (const folder of ["wide", "a".repeat(14)]) rmSync(join(driven.base, folder), { recursive: true });
  });

  test.each<[string, string, object]>([
    ["a tree", "coder::tree", { path: "wide", per_folder_limit: 100_000, max_bytes: 16_000_000 }],
    ["matches", "coder::search", { path: "wide", query: "x", max_matches: 100_000, max_bytes: 16_000_000 }],
    [
      "paths by a long query",
      "coder::search",
      { query: "a".repeat(256), fuzzy_paths: true, search_content: false },
    ],
    [
      "refusals",
      "coder::delete-file",
      { paths: Array.from({ length: 10_000 }, (_, index) => `../${index}`) },
    ],
  ])("%s", async (_, functionId, payload) => {
    const { outcome, reads } = await callBesideReads(driven, functionId, payload);
    expect(outcome.error).toBeUndefined();
    expect(reads).toBeGreaterThanOrEqual(fewestReads);
  });
});
