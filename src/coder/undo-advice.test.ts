/** Follows the advice of each undo that is refused: the advised calls work, and then the undo does. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SessionsFixture } from "./sessions.test-kit.ts";
import { follow, isRefused, parseAdvice, statesOf } from "./undo-advice.test-kit.ts";

const author = { client: "anna 1.0", session: "aaaaaaaa" };

type Call = readonly [id: string, payload: object];

/** A change of a path, which is undone: the calls before it, and it. */
interface Change {
  readonly before?: readonly Call[];
  readonly change: Call;
  /** The paths that it changes. */
  readonly changed: readonly string[];
  /** The paths at which something else may be afterwards. */
  readonly paths: readonly string[];
}

const create = (path: string, content = "one\n"): Call => ["coder::create-file", { path, content }];
const inFolder = [create("d/f"), create("d/g/h")];
const changes: Readonly<Record<string, Change>> = {
  "a deleted file": {
    before: inFolder,
    change: ["coder::delete-file", { paths: ["d/f"] }],
    changed: ["d/f"],
    paths: ["d/f", "d"],
  },
  "a deleted folder": {
    before: inFolder,
    change: ["coder::delete-file", { paths: ["d"], recursive: true }],
    changed: ["d", "d/f", "d/g", "d/g/h"],
    paths: ["d"],
  },
  "a deleted folder in another": {
    before: inFolder,
    change: ["coder::delete-file", { paths: ["d/g"], recursive: true }],
    changed: ["d/g", "d/g/h"],
    paths: ["d/g", "d"],
  },
  "a created file": { before: inFolder, change: create("d/n"), changed: ["d/n"], paths: ["d/n", "d"] },
  "a created folder": { before: inFolder, change: create("n/m"), changed: ["n", "n/m"], paths: ["n/m", "n"] },
  "an edited file": {
    before: inFolder,
    change: ["coder::create-file", { path: "d/f", content: "two\n", overwrite: true }],
    changed: ["d/f"],
    paths: ["d/f", "d"],
  },
  "a moved file": {
    before: inFolder,
    change: ["coder::move", { from: "d/f", to: "e/f" }],
    changed: ["d/f", "e/f"],
    paths: ["d/f", "e/f", "d", "e"],
  },
  "a moved folder": {
    before: inFolder,
    change: ["coder::move", { from: "d/g", to: "e/g" }],
    changed: ["d/g", "e/g"],
    paths: ["d/g", "e/g", "d", "e", "e/g/h"],
  },
  "a file that replaced another by a move": {
    before: inFolder,
    change: ["coder::move", { from: "d/f", to: "d/g/h", overwrite: true }],
    changed: ["d/f", "d/g/h"],
    paths: ["d/f", "d/g/h", "d/g", "d"],
  },
  "the mode of a file": {
    before: inFolder,
    change: ["coder::transact", { changes: [{ op: "chmod", path: "d/f", mode: "0600" }] }],
    changed: ["d/f"],
    paths: ["d/f", "d"],
  },
  "the mode of a folder": {
    before: inFolder,
    change: ["coder::transact", { changes: [{ op: "chmod", path: "d/g", mode: "0700" }] }],
    changed: ["d/g"],
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
    changed: ["d", "d/f", "d/g"],
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

/** Returns the paths where something is, since `force` may move back or keep another entry. */
const occupied = (states: Record<string, string>): string[] =>
  Object.keys(states).filter((path) => states[path] !== "absent");

/** Maximum number of times that something is brought back by hand. */
const maxRounds = 4;

async function undoByAdvice(
  [path, other, { before = [], change, changed }]: readonly [path: string, other: string, Change],
  { takesLast, isForced }: { readonly takesLast: boolean; readonly isForced: boolean },
): Promise<void> {
  await using fixture = new SessionsFixture();
  const calls = fixture.open(author);
  for (const call of before) await calls.call(...call);
  const former = statesOf(changed, fixture);
  await calls.call(...change);
  const [{ seq }] = (await calls.call("coder::checkpoints", { limit: 1 })).checkpoints;
  mkdirSync(fixture.at("folder"));
  const bringBack = await replaceBy(other, path, { fixture, calls });
  const payload: object = { seq, ...(isForced && { force: true }) };
  const texts: string[] = [];
  while (isRefused((await calls.call("coder::undo", payload)) as never)) {
    if (texts.length === maxRounds) throw new Error(texts.join("\n\n"));
    const said = await calls.text("coder::undo", payload);
    texts.push(said);
    if (parseAdvice(said).isByHand) {
      bringBack();
      continue;
    }
    const isOver = await follow(said, { calls, takesLast });
    const now = statesOf(changed, fixture);
    expect([said, isOver ? occupied(now) : now]).toEqual([said, isOver ? occupied(former) : former]);
    return;
  }
}

test.each(rows)("%s: at %s, %s", async (_, path, other, change) => {
  const row = [path, other, change] as const;
  await undoByAdvice(row, { takesLast: false, isForced: false });
  await undoByAdvice(row, { takesLast: true, isForced: true });
});
