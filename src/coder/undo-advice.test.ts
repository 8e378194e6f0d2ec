/** Follows the advice of each undo that is refused: the advised calls work, and then the undo does. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessionsFixture } from "./sessions.test-kit.ts";
import { undo } from "./undo.ts";

const author = { client: "anna 1.0", session: "aaaaaaaa" };

type Call = readonly [id: string, payload: object];

/** A change of a path, which is undone: the calls before it, and it. */
interface Change {
  readonly before?: readonly Call[];
  readonly change: Call;
  /** The paths at which something else may be afterwards. */
  readonly paths: readonly string[];
}

const create = (path: string, content = "one\n"): Call => ["coder::create-file", { path, content }];
const inFolder = [create("d/f"), create("d/g/h")];
const changes: Readonly<Record<string, Change>> = {
  "a deleted file": {
    before: inFolder,
    change: ["coder::delete-file", { paths: ["d/f"] }],
    paths: ["d/f", "d"],
  },
  "a deleted folder": {
    before: inFolder,
    change: ["coder::delete-file", { paths: ["d"], recursive: true }],
    paths: ["d"],
  },
  "a deleted folder in another": {
    before: inFolder,
    change: ["coder::delete-file", { paths: ["d/g"], recursive: true }],
    paths: ["d/g", "d"],
  },
  "a created file": { before: inFolder, change: create("d/n"), paths: ["d/n", "d"] },
  "a created folder": { before: inFolder, change: create("n/m"), paths: ["n/m", "n"] },
  "an edited file": {
    before: inFolder,
    change: ["coder::create-file", { path: "d/f", content: "two\n", overwrite: true }],
    paths: ["d/f", "d"],
  },
  "a moved file": {
    before: inFolder,
    change: ["coder::move", { from: "d/f", to: "e/f" }],
    paths: ["d/f", "e/f", "d", "e"],
  },
  "a moved folder": {
    before: inFolder,
    change: ["coder::move", { from: "d/g", to: "e/g" }],
    paths: ["d/g", "e/g", "d", "e", "e/g/h"],
  },
  "a file that replaced another by a move": {
    before: inFolder,
    change: ["coder::move", { from: "d/f", to: "d/g/h", overwrite: true }],
    paths: ["d/f", "d/g/h", "d/g", "d"],
  },
  "the mode of a file": {
    before: inFolder,
    change: ["coder::transact", { changes: [{ op: "chmod", path: "d/f", mode: "0600" }] }],
    paths: ["d/f", "d"],
  },
  "the mode of a folder": {
    before: inFolder,
    change: ["coder::transact", { changes: [{ op: "chmod", path: "d/g", mode: "0700" }] }],
    paths: ["d/g", "d"],
  },
  "a folder by a file in its place": {
    before: inFolder,
    change: [
      "coder::transact",
      {
        changes: [
          { op: "delete", path: "d", recursive: true },
          { op: "create", path: "d", content: "two\n" },
        ],
      },
    ],
    paths: ["d"],
  },
};

/** Entries that other programs leave at a path. */
const others: Readonly<Record<string, (at: string) => void>> = {
  nothing: () => {},
  "another file": (at) => writeFileSync(at, "other\n"),
  "a folder with something in it": (at) => {
    mkdirSync(at);
    writeFileSync(`${at}/inside`, "other\n");
  },
  "a link to a folder": (at) => symlinkSync("folder", at),
  "a FIFO": (at) => execFileSync("mkfifo", [at]),
};

type Calls = ReturnType<SessionsFixture["open"]>;

/** Calls that leave something else at a path. */
const byCalls: Readonly<Record<string, (path: string) => readonly Call[]>> = {
  "nothing, by a call": () => [],
  "another file, by a call": (path) => [create(path, "other\n")],
  "a folder, by a call": (path) => [["coder::make-folder", { paths: [path] }]],
};

const rows = Object.entries(changes).flatMap(([what, change]) =>
  change.paths.flatMap((path) =>
    [...Object.keys(others), ...Object.keys(byCalls)].map((other) => [what, path, other, change] as const),
  ),
);

/** Puts something else at a path. Returns a function that brings back what was there. */
async function replaceBy(other: string, path: string, { fixture, calls }: Opened): Promise<() => void> {
  const at = fixture.at(path);
  const aside = join(fixture.root, "aside");
  if (existsSync(at))
    cpSync(at, aside, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const made = byCalls[other];
  if (made !== undefined) {
    if (existsSync(at)) await calls.call("coder::delete-file", { paths: [path], recursive: true });
    for (const call of made(path)) await calls.call(...call);
  } else {
    rmSync(at, { recursive: true, force: true });
    if (existsSync(dirname(at))) others[other]!(at);
  }
  return () => {
    rmSync(at, { recursive: true, force: true });
    mkdirSync(dirname(at), { recursive: true });
    cpSync(aside, at, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  };
}

interface Opened {
  readonly fixture: SessionsFixture;
  readonly calls: Calls;
}

const listOf = (named: string) => named.replace(/ and others$/, "").split(", ");

/** Makes the calls that a text advises. Returns the payload of the next undo. */
async function follow(
  said: string,
  payload: object,
  { calls, bringBack }: Opened & { readonly bringBack: () => void },
): Promise<object> {
  const advice = said.split("\n").findLast((line) => line.startsWith("Nothing was undone"))!;
  const away = /move away (.*?) with coder::move/.exec(advice)?.[1];
  for (const path of away === undefined ? [] : listOf(away))
    await calls.call("coder::move", { from: path, to: `away/${path}` });
  const folders = /make (.*?) with coder::make-folder/.exec(advice)?.[1];
  if (folders !== undefined) await calls.call("coder::make-folder", { paths: listOf(folders) });
  if (advice.includes("bring back ")) bringBack();
  const next = /(send force|undo with force|undo again)/.exec(advice)?.[1];
  if (next === undefined) throw new Error(said);
  return next === "undo again" ? payload : { ...payload, force: true };
}

/** Returns the checkpoints that a text advises to undo first. */
const firstOf = (said: string): number[] =>
  [...(/undo (#.*?) first/.exec(said)?.[1] ?? "").matchAll(/#(\d+)/g)].map(([, seq]) => Number(seq));

const isRefused = (answer: never): boolean => undo.isFailure!(answer);

/** Maximum number of times that the advice of one undo is followed. */
const maxRounds = 4;

async function undoByAdvice(
  [path, other, { before = [], change }]: readonly [path: string, other: string, Change],
  { undoesFirst, isForced }: { readonly undoesFirst: boolean; readonly isForced: boolean },
): Promise<void> {
  await using fixture = new SessionsFixture();
  const calls = fixture.open(author);
  for (const call of [...before, change]) await calls.call(...call);
  const [{ seq }] = (await calls.call("coder::checkpoints", { limit: 1 })).checkpoints;
  mkdirSync(fixture.at("folder"));
  const bringBack = await replaceBy(other, path, { fixture, calls });
  let payload: object = { seq, ...(isForced && { force: true }) };
  const texts: string[] = [];
  while (isRefused((await calls.call("coder::undo", payload)) as never)) {
    if (texts.length === maxRounds) throw new Error(texts.join("\n\n"));
    const said = await calls.text("coder::undo", payload);
    texts.push(said);
    const first = undoesFirst ? firstOf(said) : [];
    for (const one of first)
      expect([said, isRefused((await calls.call("coder::undo", { seq: one })) as never)]).toEqual([
        said,
        false,
      ]);
    if (first.length === 0) payload = await follow(said, payload, { fixture, calls, bringBack });
  }
}

test.each(rows)("%s: at %s, %s", async (_, path, other, change) => {
  const row = [path, other, change] as const;
  await undoByAdvice(row, { undoesFirst: other in byCalls, isForced: false });
  await undoByAdvice(row, { undoesFirst: false, isForced: true });
});
