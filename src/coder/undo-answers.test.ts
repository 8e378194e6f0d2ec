/**
 * Tests the texts of `coder::undo` for models: the results of a forced undo, and hints at calls that were
 * probably not meant.
 */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

function open() {
  const fixture = new SessionsFixture();
  const read = (path: string) => readFileSync(fixture.at(path), "utf8");
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const edit = (path: string, old_str: string, new_str: string) =>
    calls.call("coder::update-file", { path, ops: [{ op: "str_replace", old_str, new_str }] });
  const create = (path: string, content: string, label?: string) =>
    calls.call("coder::create-file", { path, content, ...(label !== undefined && { label }) });
  const errorOf = (payload: object) =>
    calls.call("coder::undo", payload).then(
      () => "no error",
      (error: Error) => (JSON.parse(error.message) as { message: string }).message,
    );
  return { fixture, read, edit, create, errorOf, ...calls };
}

const conflictsOf = (text: string) => text.split("\n").filter((line) => line.startsWith("conflict:"));

test("a forced undo of a move says that the later change is kept, and where", async () => {
  const { fixture, read, edit, create, call, text } = open();
  await using _ = fixture;
  await create("a.txt", "one\ntwo\n");
  await call("coder::move", { from: "a.txt", to: "b.txt" });
  await edit("b.txt", "two", "TWO");
  const said = await text("coder::undo", { seq: 2, force: true });
  expect(conflictsOf(said)).toEqual([
    "conflict: b.txt is not what #2 left there: #3 has changed it since; that change is kept in a.txt",
  ]);
  expect(said).toContain("Undone; coder::undo with seq 4 takes this undo back.");
  expect(read("a.txt")).toBe("one\nTWO\n");
});

test("a forced undo of a move with an edit says that the later change is overwritten, once", async () => {
  const { fixture, read, edit, create, call, text } = open();
  await using _ = fixture;
  await create("w/a.txt", "one\ntwo\nthree\n");
  const patch = [
    "*** Begin Patch",
    "*** Update File: w/a.txt",
    "*** Move to: w/d/b.txt",
    "@@",
    "-two",
    "+TWO",
    "*** Add File: w/new.txt",
    "+x",
    "*** End Patch",
  ].join("\n");
  await call("coder::apply-patch", { patch });
  await edit("w/d/b.txt", "three", "THREE");
  const dry = await text("coder::undo", { seq: 2, force: true, dry_run: true });
  const said = await text("coder::undo", { seq: 2, force: true });
  for (const one of [dry, said])
    expect(conflictsOf(one)).toEqual([
      "conflict: w/d/b.txt is not what #2 left there: #3 has changed it since; that change is overwritten",
    ]);
  expect(said).toContain("Undone, over what was changed since;");
  expect(read("w/a.txt")).toBe("one\ntwo\nthree\n");
});

test("a transaction of a move and an edit is the same", async () => {
  const { fixture, read, edit, create, call, text } = open();
  await using _ = fixture;
  await create("u/a.txt", "one\ntwo\nthree\n");
  const ops = [{ op: "str_replace", old_str: "two", new_str: "TWO" }];
  await call("coder::transact", {
    changes: [
      { op: "move", from: "u/a.txt", to: "u/d/b.txt" },
      { op: "update", path: "u/d/b.txt", ops },
    ],
  });
  await edit("u/d/b.txt", "three", "THREE");
  expect(conflictsOf(await text("coder::undo", { seq: 2, force: true }))).toEqual([
    "conflict: u/d/b.txt is not what #2 left there: #3 has changed it since; that change is overwritten",
  ]);
  expect(read("u/a.txt")).toBe("one\ntwo\nthree\n");
});

test("a moved folder takes later changes along", async () => {
  const { fixture, read, edit, create, call, text } = open();
  await using _ = fixture;
  await create("d/a.txt", "one\n");
  await edit("d/a.txt", "one", "ONE");
  await call("coder::move", { from: "d", to: "e" });
  writeFileSync(fixture.at("e/a.txt"), "two\n");
  const said = await text("coder::undo", { steps: 2, force: true });
  expect(conflictsOf(said)).toEqual([
    "conflict: d/a.txt is not what #2 left there: a command or another program has changed it since; that change is overwritten",
  ]);
  expect(read("d/a.txt")).toBe("one\n");
});

test("a path that another entry has taken keeps that", async () => {
  const { fixture, read, create, call, text } = open();
  await using _ = fixture;
  await create("a.txt", "one\n");
  await call("coder::move", { from: "a.txt", to: "b.txt" });
  writeFileSync(fixture.at("a.txt"), "other\n");
  const said = await text("coder::undo", { seq: 2, force: true });
  expect(conflictsOf(said)).toEqual([
    "conflict: a.txt is not what #2 left there: a command or another program has changed it since; that change is kept",
  ]);
  expect(read("a.txt")).toBe("other\n");
});

test("a label of another checkpoint does not choose it", async () => {
  const { fixture, read, create, errorOf, call } = open();
  await using _ = fixture;
  await create("a.txt", "a\n", "T8");
  await create("b.txt", "b\n");
  const sentence =
    '`label` names the checkpoint of this undo and chooses none, and #1 has the label "T8". Nothing was undone. Send "seq": 1 to undo that one, or another `label`.';
  expect(await errorOf({ label: "T8" })).toContain(sentence);
  expect(await errorOf({ label: "T8", dry_run: true })).toContain(sentence);
  expect(read("b.txt")).toBe("b\n");
  await call("coder::undo", { label: "back" });
  expect(() => read("b.txt")).toThrow();
  expect(await errorOf({ label: "T8", seq: 1 })).toBe("no error");
});

test("paths that no chosen checkpoint has changed are named", async () => {
  const { fixture, create, call, text } = open();
  await using _ = fixture;
  await create("a.txt", "a\n");
  await create("lib/b.txt", "b\n");
  expect(await text("coder::undo", { seq: 2, paths: ["lib", "nope.js"], dry_run: true })).toContain(
    "\n[#2 has not changed nope.js]\n",
  );
  expect(await text("coder::undo", { paths: ["a.txt", "lib/b.txt", "c", "d"], dry_run: true })).toContain(
    "\n[these checkpoints have not changed c, d]\n",
  );
  const { untouched } = await call("coder::undo", { seq: 2, paths: ["./lib/b.txt"], dry_run: true });
  expect(untouched).toBeUndefined();
});
