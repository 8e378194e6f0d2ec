/** Undo of moves of what the journal does not read: special files, and files that are too large or in use. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { revisionOfBytes } from "../filesystem/files/revision.ts";
import { callWith, type FunctionCall } from "./call-with.test-kit.ts";
import type { Config } from "./config.ts";

let root: string;
const at = (path: string) => join(root, "base", path);

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  mkdirSync(at("."));
});
afterEach(() => rmSync(root, { recursive: true }));

const profile = { profile: "agent" } as const;
const makePipe = (path: string) => execFileSync("mkfifo", [path]);
/** A file with this many bytes that takes no room on disk. */
function makeSparse(path: string, bytes: number): void {
  writeFileSync(path, "");
  truncateSync(path, bytes);
}

const tooLarge = 256 * 1024 * 1024 + 1;
const largerThanAtOnce = 33 * 1024 * 1024;

/** Makes the entries to move. Each function may return another, to call in the end. */
const entries: Readonly<Record<string, (path: string) => (() => void) | undefined>> = {
  "a FIFO": (path) => {
    makePipe(path);
    return undefined;
  },
  "a file over 256 MiB": (path) => {
    makeSparse(path, tooLarge);
    return undefined;
  },
  "a file over 32 MiB that another program may be writing to": (path) => {
    makeSparse(path, largerThanAtOnce);
    const writer = openSync(path, "r+");
    return () => closeSync(writer);
  },
  "a folder with a FIFO": (path) => {
    mkdirSync(path);
    makePipe(join(path, "pipe"));
    return undefined;
  },
};

/** The calls that move `old`. */
const moves: Readonly<Record<string, FunctionCall>> = {
  move: ["coder::move", { files: [{ from: "old", to: "new/place" }] }],
  transact: ["coder::transact", { changes: [{ op: "move", from: "old", to: "new/place" }] }],
};

const undoing = (payload: object = {}): FunctionCall => ["coder::undo", { author: "anyone", ...payload }];

/** Makes the calls, each to a worker of its own. Returns their answers. */
async function answers(...calls: readonly FunctionCall[]) {
  const outcomes = [];
  for (const call of calls) outcomes.push(...(await callWith(root, profile, call)));
  // biome-ignore lint/suspicious/noExplicitAny: answers of several functions
  return outcomes.map((outcome) => (outcome as any).answer ?? outcome);
}

const cases = Object.entries(entries).flatMap(([what, make]) =>
  Object.entries(moves).map(([by, call]) => ({ what, make, by, call })),
);

test.each(cases)("a $by of $what is undone by another worker, and done again", async ({ make, call }) => {
  const end = make(at("old"));
  try {
    const { ino } = lstatSync(at("old"));
    const [moved, undone, redone] = await answers(call, undoing(), undoing());
    expect(moved).not.toHaveProperty("losses");
    expect(undone).toMatchObject({ conflicts: [], undone: [{ restored: ["old"], skipped: [] }] });
    expect(undone).not.toHaveProperty("losses");
    expect(redone).toMatchObject({ conflicts: [], undone: [{ removed: ["old"], skipped: [] }] });
    expect(lstatSync(at("new/place")).ino).toBe(ino);
    await answers(undoing());
    expect(readdirSync(at("."))).toEqual(["old"]);
    expect(lstatSync(at("old")).ino).toBe(ino);
  } finally {
    end?.();
  }
});

test("a patch moves a file that is in use, and that is undone", async () => {
  writeFileSync(at("old"), `first\n${"line\n".repeat(7_000_000)}`);
  const writer = openSync(at("old"), "r+");
  try {
    const patch = "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n";
    const [patched, undone] = await answers(["coder::apply-patch", { patch }], undoing());
    expect(patched).not.toHaveProperty("losses");
    expect(undone).toMatchObject({ conflicts: [], undone: [{ restored: ["old"], removed: ["new"] }] });
  } finally {
    closeSync(writer);
  }
});

test("several checkpoints with such a move among them are undone together", async () => {
  makeSparse(at("a"), tooLarge);
  const chmod = (path: string): FunctionCall => [
    "coder::transact",
    { changes: [{ op: "chmod", path, mode: "0600" }] },
  ];
  const move = (from: string, to: string): FunctionCall => ["coder::move", { files: [{ from, to }] }];
  const { mode } = lstatSync(at("a"));
  await answers(move("a", "b"), chmod("b"), move("b", "d/c"));
  const [undone] = await answers(undoing({ steps: 3 }));
  expect(undone.conflicts).toEqual([]);
  expect(readdirSync(at("."))).toEqual(["a"]);
  expect(lstatSync(at("a")).mode).toBe(mode);
});

test("a move over another file gives that back too", async () => {
  makePipe(at("old"));
  writeFileSync(at("new"), "replaced");
  const moving: FunctionCall = ["coder::move", { files: [{ from: "old", to: "new", overwrite: true }] }];
  const [, undone] = await answers(moving, undoing());
  expect(undone).toMatchObject({ conflicts: [], undone: [{ restored: ["old", "new"] }] });
  expect(readFileSync(at("new"), "utf8")).toBe("replaced");
  expect(lstatSync(at("old")).isFIFO()).toBe(true);
});

/** Changes of another program to what was moved. */
const changes: Readonly<Record<string, () => void>> = {
  "another FIFO": () => {
    rmSync(at("new"));
    makePipe(at("new"));
    utimesSync(at("new"), 1, 1);
  },
  "a file": () => {
    rmSync(at("new"));
    writeFileSync(at("new"), "");
  },
  nothing: () => rmSync(at("new")),
};

test.each(Object.entries(changes))("with %s at the new place, it is a conflict", async (_, change) => {
  makePipe(at("old"));
  await answers(["coder::move", { files: [{ from: "old", to: "new" }] }]);
  change();
  const [undone] = await answers(undoing());
  expect(undone).toMatchObject({ undone: [], conflicts: [{ path: "new", expected: "other" }] });
  expect(existsSync(at("old"))).toBe(false);
});

test("a large file that was written to since is a conflict, and goes back with force", async () => {
  makeSparse(at("old"), tooLarge);
  await answers(["coder::move", { files: [{ from: "old", to: "new" }] }]);
  truncateSync(at("new"), largerThanAtOnce);
  const [refused, forced] = await answers(undoing(), undoing({ force: true }));
  expect(refused).toMatchObject({
    undone: [],
    conflicts: [{ path: "new", expected: "file", found: "file" }],
  });
  expect(forced).toMatchObject({ undone: [{ restored: ["old"] }] });
  expect(lstatSync(at("old")).size).toBe(largerThanAtOnce);
});

/** Replaces the text of a journal's frame by another of its length, with the right checksum. */
function forge(text: string, other: string): void {
  const segments = join(root, "state");
  const name = readdirSync(segments, { recursive: true, encoding: "utf8" }).find((one) =>
    one.endsWith("frames"),
  )!;
  const path = join(segments, name);
  const old = readFileSync(path, "latin1");
  const frame = old
    .split("\n")
    .find((line) => line.startsWith("{") && line.includes(text))!
    // The checksum follows the JSON.
    .replace(/[0-9a-f]{16}$/, "");
  const forged = frame.replace(text, other);
  expect(forged.length).toBe(frame.length);
  const checksum = (json: string) => revisionOfBytes([Buffer.from(json, "latin1")]).slice(-16);
  expect(old).toContain(checksum(frame));
  writeFileSync(path, old.replace(frame, forged).replaceAll(checksum(frame), checksum(forged)), "latin1");
}

test("a record with another identity, or with something else in its place, moves nothing", async () => {
  makePipe(at("old"));
  await answers(["coder::move", { files: [{ from: "old", to: "new" }] }]);
  const { ino, dev } = lstatSync(at("new"));
  forge(`"identity":"${dev}:${ino} `, `"identity":"${dev}:${`${ino}`.replace(/./g, "9")} `);
  const [other] = await answers(undoing());
  expect(other).toMatchObject({ undone: [], conflicts: [{ path: "new" }] });
  forge('"identity":', '"identitx":');
  const [none] = await answers(undoing());
  expect(none).toMatchObject({ undone: [], conflicts: [{ path: "new" }] });
  expect(existsSync(at("old"))).toBe(false);
});

const stricter: Readonly<Record<string, Partial<Config>>> = {
  denied: { non_accessible_globs: ["**/old"] },
  protected: { write_deny_globs: ["**/old"] },
};

test.each(Object.entries(stricter))("one whose old name is %s by now stays", async (_, config) => {
  makePipe(at("old"));
  const move: FunctionCall = ["coder::move", { files: [{ from: "old", to: "new" }] }];
  await callWith(root, profile, move);
  await callWith(root, { ...profile, ...config }, undoing(), undoing({ force: true, seq: 1 }));
  expect(readdirSync(at("."))).toEqual(["new"]);
});

test.each(Object.entries(stricter))("one whose new name is %s by now stays", async (_, config) => {
  makePipe(at("new"));
  const move: FunctionCall = ["coder::move", { files: [{ from: "new", to: "old" }] }];
  await callWith(root, profile, move);
  await callWith(root, { ...profile, ...config }, undoing(), undoing({ force: true, seq: 1 }));
  expect(readdirSync(at("."))).toEqual(["old"]);
});
