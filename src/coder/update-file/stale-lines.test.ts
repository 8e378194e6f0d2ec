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

test("a diff of the changes shows a file, and an edit after a later change is noted", async () => {
  const { fixture, notes, read, change, call } = open();
  await using _ = fixture;
  await read();
  await call("coder::update-file", { files: [{ path: "a", ops: [insert] }] });
  change();
  const { net } = await call("coder::changes", { answer: "diff" });
  expect(net[0].diff).toContain("+zero\n");
  expect(await notes({ dry_run: true })).toEqual([]);
  change();
  await call("coder::changes", { answer: "stat" });
  expect(await notes()).toEqual([expect.stringContaining("changed since a file tool last showed it")]);
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

const dryNoteOn = noteOn().replace(
  /check the changed lines.*/,
  "check that they are those of the lines you mean before you make this edit",
);

test("a dry run has the note with other advice, and makes no other lines known than its own", async () => {
  const { fixture, write, notes, read, change } = open();
  await using _ = fixture;
  write("one\n".repeat(20));
  await read();
  change();
  expect(await notes({ dry_run: true })).toEqual([dryNoteOn]);
  expect(await notes({ dry_run: true })).toEqual([]);
  expect(await notes({ ops: [{ ...insert, at_line: 9 }], dry_run: true })).toEqual([
    dryNoteOn.replace("it to you or wrote it", "you these lines"),
  ]);
  expect(await notes({ ops: [{ ...insert, at_line: 15 }] })).toEqual([
    noteOn().replace("it to you or wrote it", "you these lines"),
  ]);
  change();
  expect(await notes({ dry_run: true })).toEqual([dryNoteOn]);
  expect(await notes()).toEqual([]);
});

test("a planned transaction has the note of a dry run, and one that fails makes nothing known", async () => {
  const { fixture, notes, read, change, call } = open();
  await using _ = fixture;
  await read();
  change();
  const update = { op: "update", path: "a", ops: [insert] };
  const failed = call("coder::transact", { changes: [update, { ...update, path: "missing" }] });
  expect(await failed.catch(({ message }: Error) => message)).toContain("missing");
  const { results, plan } = await call("coder::transact", { changes: [update], dry_run: true });
  expect(results[0].hints).toEqual([dryNoteOn]);
  await call("coder::commit", { plan });
  expect(await notes()).toEqual([]);
});

test("a hunk that only its line number places is noted, in a dry run too, and others are not", async () => {
  const { fixture, read, change, call } = open();
  await using _ = fixture;
  const noted = async (hunk: string, more = {}) => {
    const patch = `--- a/a\n+++ b/a\n${hunk}\n`;
    return (await call("coder::apply-patch", { patch, ...more })).results[0].text_notes;
  };
  await read();
  expect(await noted("@@ -1,0 +2 @@\n+new")).toBeUndefined();
  change();
  expect(await noted("@@ -1,0 +2 @@\n+new", { dry_run: true })).toEqual([dryNoteOn]);
  expect(await noted("@@ -1,0 +2 @@\n+new")).toBeUndefined();
  change();
  const { revision } = await fixture.open(ben).call("coder::read-file", { path: "a" });
  const expected_revisions = { a: revision };
  expect(await noted("@@ -1,0 +2 @@\n+new", { expected_revisions, dry_run: true })).toBeUndefined();
  expect(await noted("@@ -1,0 +2 @@\n+new")).toBeUndefined();
  change();
  expect(await noted("@@ -1,0 +2 @@\n+new")).toEqual([noteOn()]);
  change();
  expect(await noted("@@ -1 +1,2 @@\n zero\n+new")).toBeUndefined();
});

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

test("a search shows a line, and an edit is noted once that is elsewhere", async () => {
  const { fixture, write, notes, change, call } = open();
  await using _ = fixture;
  write(lines(600), "b");
  write("other\n", "c");
  const search = (more: object) => call("coder::search", { query: "line", ...more });
  const edit = { ops: [{ ...insert, at_line: 500 }] };
  await search({ query: "line [1-5]00$", regex: true });
  expect(await notes({ ...edit, dry_run: true }, "b")).toEqual([]);
  change("b");
  expect(await notes(edit, "b")).toEqual([noteOn()]);
  expect(await notes(edit, "b")).toEqual([]);
  await search({ query: "line 500" });
  write(`${readFileSync(fixture.at("b"), "utf8")}more\n`, "b");
  expect(await notes(edit, "b")).toEqual([]);
  change("b");
  await search({ query: "line 500" });
  expect(await notes(edit, "b")).toEqual([]);
  change("b");
  await search({ query: "line 500", mode: "files" });
  expect(await notes(edit, "b")).toEqual([noteOn()]);
  change("c");
  expect(await notes({}, "c")).toEqual([]);
});

test.each([
  ["a long line that is shown from its beginning", `x${" y".repeat(2000)}`, "x y", true],
  ["a long line that is shown in its middle", `${"y ".repeat(2000)}x${" y".repeat(2000)}`, "x", false],
  ["lines that end in CR LF", "one\r\ntwo\r\n", "one", true],
  ["a byte order mark", "\ufeffone\ntwo\n", "one", true],
  ["a surrogate pair where the compared part ends", `${"x".repeat(63)}\u{1f600}\ntwo\n`, "xxx", true],
  ["several lines", "one\ntwo\n", "one\ntwo", true],
])("the line that a search has shown is compared: %s", async (_name, text, query, isNoted) => {
  const { fixture, write, notes, change, call } = open();
  await using _ = fixture;
  write(text);
  const search = () => call("coder::search", { query, multiline: query.includes("\n") });
  expect((await search()).content_matches).toHaveLength(1);
  write(`${text}\nmore\n`);
  expect(await notes({ dry_run: true })).toEqual([]);
  await search();
  change();
  expect(await notes()).toEqual(isNoted ? [noteOn()] : []);
});

test("a file in another encoding, or with CR alone, is not compared with the line that a search has shown", async () => {
  const { fixture, write, notes, change, call } = open();
  await using _ = fixture;
  const utf16 = (text: string) => writeFileSync(fixture.at("a"), Buffer.from(`\ufeff${text}`, "utf16le"));
  utf16("one\ntwo\n");
  expect((await call("coder::search", { query: "two" })).content_matches).toHaveLength(1);
  utf16("zero\none\ntwo\n");
  expect(await notes()).toEqual([]);
  write("one\rtwo\r");
  expect((await call("coder::search", { query: "two" })).content_matches[0].line).toBe(2);
  expect(await notes({ dry_run: true })).toEqual([]);
  write("caf\u00e9\n");
  await call("coder::search", { query: "caf", encoding: "windows-1252" });
  change();
  expect(await notes()).toEqual([]);
});

test("the lines of a part that was read since the change are known, and no others", async () => {
  const later = noteOn().replace("it to you or wrote it", "you these lines");
  const { fixture, write, notes, read, change, call } = open();
  await using _ = fixture;
  write(lines(600));
  const part = (range: object) => call("coder::read-file", { path: "a", ...range });
  const at = (line: number) => ({ ops: [{ ...insert, at_line: line }], dry_run: true });
  await read();
  change();
  await part({ line_from: 1, line_to: 20 });
  await call("coder::read-file", { files: [{ path: "a", tail: 10 }] });
  for (const line of [1, 20, 21, 591, 602]) expect(await notes(at(line))).toEqual([]);
  const wide = { op: "remove", from_line: 15, to_line: 30 };
  expect(await notes({ ops: [wide], dry_run: true })).toEqual([]);
  expect(await notes({ ops: [wide, ...at(500).ops] })).toEqual([later]);
  expect(await notes(at(400))).toEqual([]);
  change();
  await part({ line_from: 1, line_to: 20 });
  change();
  expect(await notes(at(3))).toEqual([dryNoteOn]);
  await part({ line_from: 1, line_to: 9999 });
  expect(await notes(at(500))).toEqual([]);
});

test("a part of a file that was not shown before makes it known, and so does a read without its revision", async () => {
  const { fixture, notes, change, call } = open();
  await using _ = fixture;
  const known = async (request: object) => {
    await call("coder::read-file", { path: "a", ...request });
    expect(await notes({ dry_run: true })).toEqual([]);
    change();
    expect(await notes()).toEqual([noteOn()]);
  };
  await known({ line_from: 1, line_to: 1 });
  await known({ revision: false });
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
