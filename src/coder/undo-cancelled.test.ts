/** An undo of checkpoints that take each other back at a path has nothing of that path in its own record. */
import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type AuthorCalls, SessionsFixture } from "./sessions.test-kit.ts";

interface Listed {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
}

interface Opened extends AuthorCalls {
  readonly at: (path: string) => string;
  /** Undoes the last checkpoints of the caller, and returns the paths that this has changed. */
  readonly undo: (payload?: object) => Promise<string[]>;
  readonly create: (path: string, content: string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
  readonly move: (from: string, to: string, overwrite?: boolean) => Promise<void>;
}

function open(): Opened & { readonly fixture: SessionsFixture } {
  const fixture = new SessionsFixture();
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const { call } = calls;
  const undo = async (payload: object = {}) => {
    const { conflicts, undone } = await call("coder::undo", payload);
    expect(conflicts).toEqual([]);
    return undone.flatMap(({ restored, removed }: Listed) => [...restored, ...removed]).sort();
  };
  const create = (path: string, content: string) =>
    call("coder::create-file", { path, content, overwrite: true });
  const remove = (path: string) => call("coder::delete-file", { paths: [path], recursive: true });
  const move = (from: string, to: string, overwrite = false) => call("coder::move", { from, to, overwrite });
  return { ...calls, at: (path) => fixture.at(path), undo, create, remove, move, fixture };
}

test.each(["1\n", ""])(
  "an undo of an undo leaves alone what cancelled in it, with the content %j",
  async (content) => {
    const { fixture, at, call, create, undo } = open();
    await using _ = fixture;
    await create("d", "2\n");
    await undo();
    await create("a", content);
    await undo();
    const { next } = await call("coder::changes");
    expect(await undo({ steps: 3 })).toEqual(["d"]);
    const { checkpoints } = await call("coder::checkpoints", { seq: 5 });
    expect(checkpoints[0].files).toEqual([{ path: "d", change: "created" }]);
    expect(
      (await call("coder::checkpoints", { path: "a" })).checkpoints.map(({ seq }: { seq: number }) => seq),
    ).toEqual([4, 3]);
    const { changes } = await call("coder::changes", { since: next });
    expect(changes.map(({ path }: { path: string }) => path)).toEqual(["d"]);
    await create("a", content);
    expect(await undo({ seq: 5 })).toEqual(["d"]);
    expect(readFileSync(at("a"), "utf8")).toBe(content);
    expect(await undo({ seq: 7 })).toEqual(["d"]);
    rmSync(at("a"));
    expect(await undo({ seq: 5 })).toEqual(["d"]);
    expect(existsSync(at("a"))).toBe(false);
  },
);

/** Makes the entries that the calls change. */
const start = (at: Opened["at"]) => {
  mkdirSync(at("d/s"), { recursive: true });
  writeFileSync(at("d/f"), "first\n");
  symlinkSync("f", at("d/l"));
  writeFileSync(at("other"), "other\n");
};

const transact = (...changes: readonly object[]) => ["coder::transact", { changes }] as const;
const create = (path: string, content: string) => ({ op: "create", path, content, overwrite: true });
const patch = (text: string) =>
  ["coder::apply-patch", { patch: `*** Begin Patch\n${text}*** End Patch\n` }] as const;

/** Calls that together leave most paths unchanged, and the other paths. */
const cancelling: Readonly<
  Record<
    string,
    { readonly calls: readonly (readonly [string, object])[]; readonly changed?: readonly string[] }
  >
> = {
  "an edit, and one back": {
    calls: [transact(create("d/f", "second\n")), transact(create("d/f", "first\n"))],
  },
  "a mode, and one back": {
    calls: [
      transact({ op: "chmod", path: "d/f", mode: "0600" }),
      transact({ op: "chmod", path: "d/f", mode: "0644" }),
    ],
  },
  "a folder that goes and comes back": {
    calls: [
      ["coder::delete-file", { paths: ["d"], recursive: true }],
      ["coder::undo", {}],
    ],
  },
  "a move there and back": {
    calls: [
      ["coder::move", { from: "d/f", to: "moved" }],
      ["coder::move", { from: "moved", to: "d/f" }],
    ],
  },
  "a move of the folder there and back, with a file in it meanwhile": {
    calls: [
      ["coder::move", { from: "d", to: "e" }],
      transact(create("e/n", "")),
      ["coder::delete-file", { paths: ["e/n"] }],
      ["coder::move", { from: "e", to: "d" }],
    ],
  },
  "a file that is made, moved and removed": {
    calls: [
      transact(create("n", "1")),
      ["coder::move", { from: "n", to: "d/n" }],
      ["coder::delete-file", { paths: ["d/n"] }],
    ],
  },
  "a file below a folder that is moved": {
    calls: [
      transact(create("d/n", "1")),
      ["coder::move", { from: "d", to: "e" }],
      ["coder::delete-file", { paths: ["e/n"] }],
    ],
    changed: ["d", "e"],
  },
  "another file that has the name meanwhile, and moves on": {
    calls: [
      ["coder::move", { from: "d/f", to: "b" }],
      transact(create("d/f", "new")),
      ["coder::move", { from: "d/f", to: "c" }],
      ["coder::move", { from: "b", to: "d/f" }],
    ],
    changed: ["c"],
  },
  "two swaps": {
    calls: [1, 2].map(() =>
      transact(
        { op: "move", from: "d/f", to: "t" },
        { op: "move", from: "other", to: "d/f" },
        { op: "move", from: "t", to: "other" },
      ),
    ),
  },
  "one transaction that makes and removes a file": {
    calls: [transact(create("n", "1"), { op: "delete", path: "n" }, create("m", "1"))],
    changed: ["m"],
  },
  "one transaction that replaces a file by way of a temporary one": {
    calls: [
      transact(create("n", "1"), { op: "move", from: "n", to: "d/f", overwrite: true }),
      transact(create("d/f", "first\n"), create("m", "1")),
    ],
    changed: ["m"],
  },
  "patches that edit a file, and move it back": {
    calls: [
      patch("*** Update File: d/f\n*** Move to: g\n@@\n-first\n+second\n"),
      patch("*** Update File: g\n*** Move to: d/f\n@@\n-second\n+first\n*** Add File: m\n+1\n"),
    ],
    changed: ["m"],
  },
  "a copy that takes the place of what it was copied from": {
    calls: [
      ["coder::copy", { from: "d/f", to: "n" }],
      ["coder::move", { from: "n", to: "d/f", overwrite: true }],
    ],
  },
  "a link that becomes a file, and a link again": {
    calls: [
      ["coder::move", { from: "other", to: "d/l", overwrite: true }],
      ["coder::undo", {}],
    ],
  },
};

/** Changes of another program to everything that is as before. */
function changeOthers(at: Opened["at"]): () => void {
  const texts = ["d/f", "moved", "n", "b", "d/n", "e/n", "t", "g"].filter(
    (path) => existsSync(at(join(path, ".."))) && path !== "d/f",
  );
  const inFolder = existsSync(at("d/f")) ? "d" : "e";
  writeFileSync(at(`${inFolder}/f`), "of another program");
  chmodSync(at(`${inFolder}/f`), 0o600);
  for (const path of texts) writeFileSync(at(path), "of another program");
  rmSync(at(`${inFolder}/l`));
  return () => {
    for (const path of [`${inFolder}/f`, ...texts])
      expect([
        path,
        readFileSync(at(path.replace(/^[de]\//, `${existsSync(at("d")) ? "d" : "e"}/`)), "utf8"),
      ]).toEqual([path, "of another program"]);
  };
}

test.each(Object.entries(cancelling))("%s", async (_, { calls, changed = [] }) => {
  const { fixture, at, call, undo } = open();
  await using __ = fixture;
  start(at);
  for (const one of calls) {
    const answer = await call(...one);
    expect(JSON.stringify(answer)).not.toContain('"success":false');
  }
  const check = changeOthers(at);
  expect(await undo({ steps: calls.length })).toEqual([...changed]);
  check();
  if (changed.length === 0) return;
  expect(await undo()).toEqual([...changed]);
  check();
  expect(await undo()).toEqual([...changed]);
  check();
  expect(lstatSync(at("d/f")).mode & 0o777).toBe(0o600);
});

test("a folder that an undo has made again keeps the mode that it has got since", async () => {
  const { fixture, at, create, remove, undo } = open();
  await using _ = fixture;
  await create("d/f", "1");
  await remove("d");
  await undo();
  chmodSync(at("d"), 0o700);
  expect(await undo({ steps: 2 })).toEqual([]);
  expect(lstatSync(at("d")).mode & 0o777).toBe(0o700);
});

test("a file that others made with the content of an undone one is a conflict of the redo, and stays", async () => {
  const { fixture, at, call, create, undo } = open();
  await using _ = fixture;
  await create("a", "1\n");
  await create("a", "2\n");
  expect(await undo({ steps: 2 })).toEqual(["a"]);
  writeFileSync(at("a"), "1\n");
  const { conflicts } = await call("coder::undo");
  expect(conflicts).toEqual([{ path: "a", seq: 3, expected: "absent", found: "file" }]);
  expect(readFileSync(at("a"), "utf8")).toBe("1\n");
});

test("a forced undo that leaves a path records none of it", async () => {
  const { fixture, at, call, create, undo } = open();
  await using _ = fixture;
  await create("n/f", "1\n");
  await create("m", "1\n");
  writeFileSync(at("n/g"), "of another program");
  const { undone } = await call("coder::undo", { steps: 2, force: true });
  expect(undone[1].skipped).toEqual([{ path: "n", reason: "in-the-way" }]);
  expect(await undo()).toEqual(["m", "n/f"]);
  expect(readFileSync(at("n/g"), "utf8")).toBe("of another program");
  expect(await undo()).toEqual(["m", "n/f"]);
});
