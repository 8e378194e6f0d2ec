/** Tests the note on an edit by line numbers in a file that has changed since its author last saw it. */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import type { Author } from "../../base/author.ts";
import { SessionsFixture } from "../sessions.test-kit.ts";

const anna = { client: "anna 1.0", session: "aaaaaaaa" };
const ben = { client: "ben 2.0", session: "bbbbbbbb" };

const insert = { op: "insert", at_line: 2, content: "new\n" };

function open(author: Author = anna, config = {}) {
  const fixture = new SessionsFixture(config);
  const write = (text: string, path = "a") => writeFileSync(fixture.at(path), text);
  write("one\ntwo\n");
  const { call } = fixture.open(author);
  /** Returns the notes of an edit by line. */
  const notes = async (more: object = {}, path = "a"): Promise<string[]> => {
    const { dry_run = false, answer = "echo", ...spec } = more as { dry_run?: boolean; answer?: string };
    const request = { files: [{ path, ops: [insert], ...spec }], dry_run, answer };
    return (await call("coder::update-file", request)).results[0].hints ?? [];
  };
  const read = (path = "a") => call("coder::read-file", { path });
  /** Adds a line at the top as another program. */
  const change = (path = "a") => write(`zero\n${readFileSync(fixture.at(path), "utf8")}`, path);
  return { fixture, write, call, notes, read, change };
}

const noteOn = (by = "") =>
  `changed since a file tool last showed it to you or wrote it${by}: the line numbers counted in the present text; check the changed lines, and take this edit back with coder::undo if they are wrong`;

test.each(["echo", "diff", "none", "bodies"])(
  "an edit by line after another program's change is noted once, with the answer %s",
  async (answer) => {
    const { fixture, notes, read, change } = open();
    await using _ = fixture;
    await read();
    expect(await notes({ answer })).toEqual([]);
    change();
    expect(await notes({ answer })).toEqual([noteOn()]);
    expect(await notes({ answer })).toEqual([]);
  },
);

test.each([
  { op: "remove", from_line: 1, to_line: 1 },
  { op: "update_lines", from_line: 1, to_line: 1, content: "x\n" },
])("$op is noted too", async (op) => {
  const { fixture, notes, read, change } = open();
  await using _ = fixture;
  await read();
  change();
  expect(await notes({ ops: [op] })).toEqual([noteOn()]);
});

test("the author of the change is named if the feed knows it", async () => {
  const { fixture, notes, read, change, call } = open();
  await using _ = fixture;
  await read();
  await fixture.open(ben).call("coder::update-file", { files: [{ path: "a", ops: [insert] }] });
  expect(await notes()).toEqual([noteOn(" (coder::update-file by ben 2.0 (session bbbbbbbb))")]);
  if (!(await call("coder::changes")).external) return;
  change();
  expect(await notes()).toEqual([noteOn(" (by another program)")]);
  const { feed } = await fixture.runtime;
  const run = async (author: Author) => {
    const cause = { by: "call", function_id: "shell::exec", author, program: "sed" } as const;
    const command = await feed.beginCommand(cause);
    change();
    await feed.endCommand(command!);
  };
  await run(anna);
  expect(await notes()).toEqual([noteOn(" (while shell::exec sed ran)")]);
  await run(ben);
  expect(await notes()).toEqual([noteOn(" (while shell::exec sed ran, by ben 2.0 (session bbbbbbbb))")]);
});

test("what a call wrote is known to its author, under each of its names", async () => {
  const { fixture, notes, change, call } = open();
  await using _ = fixture;
  symlinkSync("n", fixture.at("link"));
  const known = async (path: string) => {
    expect(await notes({}, path)).toEqual([]);
    change(path);
    expect(await notes({}, path)).toEqual([noteOn()]);
  };
  await call("coder::create-file", { files: [{ path: "n", content: "one\n" }] });
  await known("n");
  await known("link");
  await call("coder::move", { files: [{ from: "n", to: "m" }] });
  await known("m");
  await call("coder::undo");
  await known("m");
  await call("coder::transact", { changes: [{ op: "create", path: "t", content: "one\n" }] });
  change("t");
  const { results } = await call("coder::transact", {
    changes: [
      { op: "update", path: "t", ops: [insert] },
      { op: "update", path: "t", ops: [insert] },
    ],
  });
  expect(results.map((one: { hints?: string[] }) => one.hints)).toEqual([[noteOn()], undefined]);
});

test("an edit that names no lines, or the revision, or a file that is as it was, has no note", async () => {
  const { fixture, write, notes, read, change, call } = open();
  await using _ = fixture;
  expect(await notes()).toEqual([]);
  change();
  const replace = { op: "str_replace", old_str: "one", new_str: "ONE" };
  expect(await notes({ ops: [replace] })).toEqual([]);
  change();
  const { revision } = await fixture.open(ben).call("coder::read-file", { path: "a" });
  expect(await notes({ expected_revision: revision })).toEqual([]);
  change();
  await read();
  expect(await notes()).toEqual([]);
  change();
  await call("coder::search", { query: "zero" });
  expect(await notes()).toEqual([]);
  const text = readFileSync(fixture.at("a"), "utf8");
  change();
  write(text);
  chmodSync(fixture.at("a"), 0o600);
  expect(await notes()).toEqual([]);
});

test("an edit that is refused for its lines does not make the next one know the file", async () => {
  const { fixture, notes, read, change } = open();
  await using _ = fixture;
  await read();
  change();
  expect(await notes({ ops: [{ op: "remove", from_line: 9, to_line: 9 }] })).toEqual([]);
  expect(await notes()).toEqual([noteOn()]);
  change();
  expect(await notes({ ops: [{ op: "str_replace", old_str: "zer0", new_str: "" }] })).toEqual([]);
  expect(await notes()).toEqual([]);
});

test("a dry run has the note without an undo, and the edit after it none", async () => {
  const { fixture, notes, read, change } = open();
  await using _ = fixture;
  await read();
  change();
  expect(await notes({ dry_run: true })).toEqual([noteOn().replace(/, and take.*/, "")]);
  expect(await notes()).toEqual([]);
});

test("a file that a transaction moves, or that one wrote and took back, has no note", async () => {
  const { fixture, notes, call, read, write } = open();
  await using _ = fixture;
  write("other\n", "b");
  await read("a");
  await read("b");
  const move = { op: "move", from: "b", to: "a", overwrite: true };
  const { results } = await call("coder::transact", {
    changes: [move, { op: "update", path: "a", ops: [insert] }],
  });
  expect(results[1].hints).toBeUndefined();
  const changes = [
    { op: "create", path: "a", content: "new\n", overwrite: true },
    { op: "delete", path: "missing" },
  ];
  await call("coder::transact", { changes }).catch(() => undefined);
  expect(await notes()).toEqual([]);
});

test("neither a client without a session nor the profile contract has notes; a worker has", async () => {
  const edits = async (author: Author, config = {}) => {
    const { fixture, notes, read, change } = open(author, config);
    await using _ = fixture;
    await read();
    change();
    return await notes();
  };
  expect(await edits({ client: "anna 1.0" })).toEqual([]);
  expect(await edits(anna, { profile: "contract" })).toEqual([]);
  expect(await edits({ worker: "w1" })).toEqual([noteOn()]);
});
