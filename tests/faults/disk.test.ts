/**
 * Refusals by the operating system: each has a code, changes nothing and leaves no temporary file, and the
 * next call works.
 */

import { describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseError } from "../harness/errors.ts";
import { buildTree, compareSnapshots } from "../harness/tree.ts";
import {
  codesOf,
  type DriverFixture,
  type DriverOptions,
  type DriverOutcome,
  outcomeFaults,
  withDriver,
} from "./driver-fixture.ts";
import { isRoot, reasonAgainstMounts, testUnless } from "./machine.ts";

type Call = readonly [functionId: string, payload: unknown];

const create = (path: string, content: string, overwrite = false): Call => [
  "coder::create-file",
  { files: [{ path, content, overwrite }] },
];
const insert = (path: string, content: string): Call => [
  "coder::update-file",
  { files: [{ path, ops: [{ op: "insert", at_line: 1, content }] }] },
];
const both = (content: string): Call => [
  "coder::transact",
  {
    changes: [
      { op: "update", path: "a.txt", ops: [{ op: "insert", at_line: 1, content: "first" }] },
      { op: "create", path: "other/new.txt", content, overwrite: true },
      { op: "update", path: "a.txt", ops: [{ op: "insert", at_line: 1, content }] },
    ],
  },
];
const remove = (path: string, recursive = false): Call => [
  "coder::delete-file",
  { paths: [path], recursive },
];
const read = (path: string): Call => ["coder::read-file", { path }];
const list = (path: string): Call => ["coder::list-folder", { path }];

/**
 * Returns every way to write `bytes` bytes: into a new file, over one, below new folders, as an edit, and in
 * a transaction.
 */
const writesOf = (bytes: number): Call[] => {
  const content = "0123456789abcde\n".repeat(bytes / 16);
  return [
    create("new.txt", content),
    create("new.txt", content, true),
    create("a.txt", content, true),
    create("new/folders/new.txt", content),
    insert("a.txt", content),
    both(content),
  ];
};

/** Makes a call that must fail with C216 and a message that matches `says`, and that must change nothing. */
async function expectRefused(
  driven: DriverFixture,
  [functionId, payload]: Call,
  says: RegExp,
): Promise<void> {
  const before = driven.snapshot();
  const outcome = await driven.call(functionId, payload);
  expect({ functionId, codes: codesOf(outcome) }).toEqual({ functionId, codes: ["C216"] });
  expect(JSON.stringify(outcome)).toMatch(says);
  expect(outcomeFaults(outcome, { functionId, payload, root: driven.root })).toEqual([]);
  expect(compareSnapshots(driven.snapshot(), before)).toEqual([]);
}

async function expectServed(driven: DriverFixture, [functionId, payload]: Call): Promise<DriverOutcome> {
  const outcome = await driven.call(functionId, payload);
  expect({ functionId, failed: codesOf(outcome).filter((code) => code !== "") }).toEqual({
    functionId,
    failed: [],
  });
  return outcome;
}

const ownTmpfs = (options: string, then = ":"): DriverOptions => ({
  ownMounts: true,
  before: `mount -t tmpfs -o ${options} none "$BASE"; echo old > "$BASE/a.txt"; ${then}`,
});

describe.each([true, false])("with fsync %p", (fsync) => {
  testUnless(reasonAgainstMounts, "a full disk (ENOSPC), after a part was written", () =>
    withDriver({ ...ownTmpfs("size=128k"), config: { fsync } }, async (driven) => {
      for (const call of writesOf(256 * 1024)) await expectRefused(driven, call, /ENOSPC/);
      for (const call of writesOf(1024)) await expectServed(driven, call);
    }),
  );

  test("a file over the limit of the process (EFBIG), after a part was written", () =>
    withDriver({ tree: { "a.txt": "old\n" }, before: "ulimit -f 16", config: { fsync } }, async (driven) => {
      for (const call of writesOf(256 * 1024)) await expectRefused(driven, call, /EFBIG/);
      for (const call of writesOf(1024)) await expectServed(driven, call);
    }));
});

testUnless(reasonAgainstMounts, "the room that replaced files took is there for the next", () =>
  withDriver({ ...ownTmpfs("size=128k"), config: { fsync: false } }, async (driven) => {
    const content = "0123456789abcde\n".repeat(3 * 1024);
    const files = Array(20).fill({ path: "a.txt", content, overwrite: true });
    await expectServed(driven, ["coder::create-file", { files }]);
    const ops = [{ op: "update_lines", from_line: 1, to_line: 1, content: "changed" }];
    const back = [{ ...ops[0], content: "0123456789abcde" }];
    const edits = Array.from({ length: 20 }, (_, i) => ({ path: "a.txt", ops: i % 2 === 0 ? ops : back }));
    await expectServed(driven, ["coder::update-file", { files: edits }]);
  }),
);

testUnless(reasonAgainstMounts, "no inode for the last of some new folders (ENOSPC)", () =>
  withDriver(ownTmpfs("nr_inodes=5"), async (driven) => {
    await expectRefused(driven, create("one/two/three/four/new.txt", "new"), /ENOSPC/);
    await expectServed(driven, create("one/new.txt", "new"));
  }),
);

testUnless(reasonAgainstMounts, "a read-only file system (EROFS)", () =>
  withDriver(
    ownTmpfs("size=128k", 'mkdir "$BASE/empty"; mount -o remount,bind,ro "$BASE"'),
    async (driven) => {
      const calls = [...writesOf(1024), remove("a.txt"), remove("empty"), remove("empty", true)];
      for (const call of calls) await expectRefused(driven, call, /the file system is read-only \(EROFS\)/);
      await expectServed(driven, read("a.txt"));
    },
  ),
);

/** Options for an unprivileged driver, even if root runs the tests. */
const asNobody = isRoot ? { env: { DRIVER_USER: "65534" } } : {};

const lockedTree = {
  "locked.txt": { text: "locked", mode: 0o000 },
  "read-only.txt": { text: "kept", mode: 0o444 },
  "closed/": { mode: 0o000 },
  "still/f.txt": { text: "kept", mode: 0o666 },
  "still/": { mode: 0o555 },
  "by-name/f.txt": "found\n",
  "by-name/": { mode: 0o311 },
  "holder/closed/": { mode: 0o000 },
  "holder/f.txt": "kept",
};

test("files and folders that are closed to the worker (EACCES)", () =>
  withDriver({ tree: lockedTree, ...asNobody }, async (driven) => {
    const refused = [
      read("locked.txt"),
      read("closed/any.txt"),
      list("closed"),
      list("by-name"),
      insert("read-only.txt", "x"),
      create("read-only.txt", "x", true),
      insert("still/f.txt", "x"),
      create("still/f.txt", "x", true),
      create("still/new.txt", "x"),
      create("still/new/new.txt", "x"),
      remove("still/f.txt"),
      remove("closed/any.txt"),
      remove("holder", true),
    ];
    for (const [functionId, payload] of refused) {
      const outcome = await driven.call(functionId, payload);
      expect({ payload, codes: codesOf(outcome) }).toEqual({ payload, codes: ["C216"] });
      expect(outcomeFaults(outcome, { functionId, payload, root: driven.root })).toEqual([]);
    }
    await expectServed(driven, ["coder::search", { query: "kept" }]);
    const { answer } = await expectServed(driven, read("by-name/f.txt"));
    expect(answer).toMatchObject({ content: "found\n" });
    const tree = await expectServed(driven, ["coder::tree", {}]);
    expect(JSON.stringify(tree)).toContain("io_error");
    for (const path of ["read-only.txt", "still/f.txt", "holder/f.txt"])
      expect(readFileSync(join(driven.base, path), "utf8")).toBe("kept");
    expect(readdirSync(join(driven.base, "still"))).toEqual(["f.txt"]);
    for (const folder of ["closed", "still", "by-name", "holder/closed"])
      chmodSync(join(driven.base, folder), 0o755);
  }));

const endsTree = {
  "fixed/a": "kept",
  "fixed/d/b": "kept",
  "fixed/d/": { mode: 0o777 },
  "fixed/": { mode: 0o555 },
  "free/c": { text: "free", mode: 0o666 },
  "free/d/b": "free",
  "free/d/": { mode: 0o777 },
  "free/own/": { mode: 0o555 },
  "free/": { mode: 0o777 },
  "open/": { mode: 0o777 },
};

const moves: readonly (readonly [from: string, to: string, forbidden: string])[] = [
  ["free/c", "fixed/c", "fixed/c"],
  ["free/c", "fixed/a", "fixed/a"],
  ["free/c", "fixed/new/c", "fixed/new/c"],
  ["free/d", "fixed/e", "fixed/e"],
  ["fixed/a", "free/a", "fixed/a"],
  ["fixed/a", "free/c", "fixed/a"],
  ["fixed/d", "free/e", "fixed/d"],
  // Moving a folder to another parent also writes to the folder, for its `..`.
  ["free/own", "open/own", "free/own"],
];

/** Whether a folder can move into another one, which takes descriptors. */
const movesFolders = process.env["CODER_JAIL"] !== "current-directory";
const folders = new Set(["free/d", "fixed/d", "free/own"]);

test("the refusal of a move or a copy names the end that the system forbids", () =>
  withDriver({ tree: endsTree, ...asNobody }, async (driven) => {
    for (const [from, to, forbidden] of moves) {
      if (!movesFolders && folders.has(from)) continue;
      const file = { from, to, overwrite: !/[de]$/.test(to) };
      const functions = forbidden === to ? ["move", "copy"] : ["move"];
      const calls = functions.flatMap((op): [string, object][] => [
        [`coder::${op}`, { files: [file] }],
        [`coder::${op}`, { files: [file], dry_run: true }],
        ["coder::transact", { changes: [{ op, ...file }] }],
      ]);
      for (const [functionId, payload] of calls) {
        const outcome = await driven.call(functionId, payload);
        expect([payload, codesOf(outcome)]).toEqual([payload, ["C216"]]);
        const [, named] = /does not permit this on \\*"([^"\\]+)/.exec(JSON.stringify(outcome)) ?? [];
        expect([functionId, payload, named]).toEqual([functionId, payload, forbidden]);
      }
    }
    for (const folder of ["fixed", "free/own"]) chmodSync(join(driven.base, folder), 0o755);
  }));

const strangers = (path: string): Call[] => [insert(path, "x"), create(path, "x", true), remove(path)];

if (isRoot) {
  const tree = { "sticky/f.txt": { text: "kept", mode: 0o666 }, "sticky/": { mode: 0o1777 } };
  test("another user's file in a sticky folder (EPERM)", () =>
    withDriver({ tree, ...asNobody }, async (driven) => {
      for (const call of strangers("sticky/f.txt")) await expectRefused(driven, call, /does not permit/);
      await expectServed(driven, create("sticky/mine.txt", "mine"));
      await expectServed(driven, remove("sticky/mine.txt"));
    }));
} else {
  // Only root can create another user's file, so the test uses existing ones.
  test("root's files (EACCES)", () =>
    withDriver({ config: { base_path: "/etc" } }, async (driven) => {
      for (const call of [...strangers("passwd"), create("coder-new.txt", "x")])
        await expectRefused(driven, call, /does not permit/);
      await expectServed(driven, read("passwd"));
    }));
}

/** Calls that succeed, and that open as many descriptors as usual. */
const everyCall: readonly Call[] = [
  read("deep/er/f.txt"),
  list("deep/er"),
  ["coder::tree", { path: "deep" }],
  ["coder::search", { query: "needle" }],
  insert("deep/er/f.txt", "new"),
  create("deep/er/f.txt", "new", true),
  create("deep/new/folders/f.txt", "new"),
  remove("deep/er/f.txt"),
  remove("deep", true),
];

const deepTree = { "deep/er/f.txt": "needle\n", "deep/er/still/g.txt": "needle\n" };

test.each(everyCall)("no descriptor is left (EMFILE): %s %j", (functionId, payload) =>
  withDriver({ tree: deepTree, before: "ulimit -n 256" }, async (driven) => {
    // The first call also opens what is kept, such as the descriptors of threads.
    const whole = await expectServed(driven, [functionId, payload]);
    buildTree(driven.root, deepTree);
    const { descriptors } = await driven.measure();
    let left = 0;
    for (; ; left++) {
      const before = driven.snapshot();
      await driven.request({ method: "exhaust", left });
      const outcome = await driven.call(functionId, payload);
      await driven.request({ method: "release" });
      if (isSame(outcome, whole)) break;
      // A tree reports the error at the folder that could not be opened.
      expect(reasonsOf(outcome)).toMatch(/EMFILE|"io_error"/);
      expect(codesOf(outcome).filter((code) => code !== "C216")).toEqual([]);
      expect(compareSnapshots(driven.snapshot(), before)).toEqual([]);
      expect((await driven.measure()).descriptors).toBe(descriptors);
    }
    // The current directory is held without a descriptor, and some calls need no other folder.
    if (process.env["CODER_JAIL"] !== "current-directory") expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(20);
    expect((await driven.measure()).descriptors).toBe(descriptors);
  }),
);

const isSame = (one: DriverOutcome, other: DriverOutcome): boolean =>
  withoutTimes(one) === withoutTimes(other);

const withoutTimes = (outcome: DriverOutcome): string =>
  JSON.stringify(outcome).replace(/"(mtime|size)":\d+/g, "");

const reasonsOf = ({ answer, error }: DriverOutcome): string =>
  error === undefined ? JSON.stringify(answer) : parseError(error)!.message;
