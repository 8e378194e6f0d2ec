/**
 * Tests the texts of `coder::undo` for models: the results of a forced undo, and hints at calls that were
 * probably not meant.
 */
import { expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

interface Answer {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
}

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
    "conflict: a.txt is not what #2 left there: a command or another program has changed it since, and it is a file now; that change is kept",
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

/** Edits `a.txt`, undoes that as #3, and redoes it as #4. */
async function redone() {
  const opened = open();
  const { fixture, create, edit, call } = opened;
  await create("a.txt", "one\ntwo\n");
  await edit("a.txt", "two", "TWO");
  await call("coder::undo", { seq: 2 });
  await call("coder::undo", { seq: 3 });
  return { ...opened, takeAway: () => writeFileSync(fixture.at("a.txt"), "one\ntwo\n") };
}

const lastLineOf = (text: string) => text.split("\n").at(-1);

test("a change that was undone and redone, and that another program took away, is not undone by the redo", async () => {
  const { fixture, text, call, takeAway, read } = await redone();
  await using _ = fixture;
  takeAway();
  expect(await text("coder::undo", { seq: 2 })).toBe(
    "#2\nNothing was undone: what #2 changed is no longer there. a.txt: undone by #3 and redone by #4, and changed since by a command or another program. To redo, undo #3.",
  );
  const { undone } = await call("coder::undo", { seq: 2, dry_run: true });
  const gone = [{ path: "a.txt", undone_by: 3, redone_by: 4 }];
  expect(undone).toEqual([{ seq: 2, restored: [], removed: [], skipped: [], gone }]);
  await call("coder::undo", { seq: 3 });
  expect(read("a.txt")).toBe("one\nTWO\n");
});

test("a change that was undone again is undone by the last undo", async () => {
  const { fixture, text, call } = await redone();
  await using _ = fixture;
  await call("coder::undo", { seq: 4 });
  expect(lastLineOf(await text("coder::undo", { seq: 2 }))).toBe(
    "Nothing was undone: undone already by #5. To redo, undo #5.",
  );
});

test("a redo that another program took away is not there, and no undo is named", async () => {
  const { fixture, text, takeAway } = await redone();
  await using _ = fixture;
  takeAway();
  expect(lastLineOf(await text("coder::undo", { paths: ["a.txt"] }))).toBe(
    "Nothing was undone: what #4 changed is no longer there. a.txt: changed since by a command or another program. coder::checkpoints with path lists what changed there; send its seq.",
  );
});

test("an undo of something else at a path, or of its folder, is not named as the undo", async () => {
  const { fixture, text, create, edit, call } = open();
  await using _ = fixture;
  await create("a.txt", "one\ntwo\n");
  await edit("a.txt", "two", "TWO");
  await edit("a.txt", "TWO", "two");
  await edit("a.txt", "one", "ONE");
  await call("coder::undo", { seq: 4 });
  expect(lastLineOf(await text("coder::undo", { seq: 2 }))).toBe(
    "Nothing was undone: what #2 changed is no longer there. a.txt: changed since by #3. To get it back, undo #3.",
  );
  const files = ["x/1", "x/2"].map((path) => ({ path, content: "1\n", parents: true }));
  const { checkpoint } = await call("coder::create-file", { files });
  await call("coder::undo", { seq: checkpoint, paths: ["x/1"] });
  rmSync(fixture.at("x/2"));
  await call("coder::undo", { seq: checkpoint });
  const said = await text("coder::undo", { seq: checkpoint, paths: ["x/2"] });
  expect(lastLineOf(said)).toContain("x/2: changed since by a command or another program.");
  const all = await text("coder::undo", { seq: checkpoint });
  expect(all).toContain("x/1: undone by #");
  expect(all).toContain("x/2: changed since by a command or another program.");
});

test("a change that was undone over a later one, and redone, conflicts with the later one", async () => {
  const { fixture, text, create, edit, call } = open();
  await using _ = fixture;
  await create("a.txt", "one\ntwo\n");
  await edit("a.txt", "one", "ONE");
  await edit("a.txt", "two", "TWO");
  await edit("a.txt", "TWO", "zwei");
  await call("coder::undo", { seq: 4 });
  expect(await text("coder::undo", { seq: 2 })).toBe(
    'conflict: a.txt is not what #2 left there: #3 has changed it since\nNothing was undone; send coder::undo {"seq":3}, then coder::undo {"seq":2}, or coder::undo {"seq":2,"force":true} to undo over conflicts.',
  );
  await call("coder::undo", { seq: 3 });
  expect(await text("coder::undo", { seq: 2 })).toContain("\nUndone; ");
});

test("after more later checkpoints than are read, nothing is claimed of those before", async () => {
  const { fixture, text, create, edit, call } = open();
  await using _ = fixture;
  await create("a.txt", "one\n");
  await edit("a.txt", "one", "two");
  await call("coder::undo", { seq: 2 });
  await create("b.txt", "0\n");
  for (let count = 0; count < 201; count++) await edit("b.txt", `${count}`, `${count + 1}`);
  expect(lastLineOf(await text("coder::undo", { seq: 2 }))).toBe(
    "Nothing was undone: what #2 changed is no longer there. Send the seq of the one to undo; coder::checkpoints lists them.",
  );
  expect(await text("coder::undo", { seq: 4 })).toBe(
    'conflict: b.txt is not what #4 left there: #205 has changed it since\nNothing was undone; send coder::undo {"seq":4,"force":true} to undo over conflicts.',
  );
});

test("the advised calls name what was wanted, and the later checkpoints in their order", async () => {
  const { fixture, create, edit, call } = open();
  await using _ = fixture;
  await create("a.txt", "0\n");
  await create("b.txt", "0\n");
  for (let count = 0; count < 3; count++) await edit("a.txt", `${count}`, `${count + 1}`);
  const waysOf = async (payload: object) => (await call("coder::undo", payload)).ways;
  const seqs = (...all: number[]) => ({ calls: all.map((seq) => ({ seq })) });
  expect(await waysOf({ seq: 1 })).toEqual([seqs(5, 4, 3, 1), { calls: [{ seq: 1, force: true }] }]);
  expect(await waysOf({ seq: 3, paths: ["a.txt"] })).toEqual([
    { calls: [{ seq: 5 }, { seq: 4 }, { seq: 3, paths: ["a.txt"] }] },
    { calls: [{ seq: 3, paths: ["a.txt"], force: true }] },
  ]);
  for (let count = 3; count < 13; count++) await edit("a.txt", `${count}`, `${count + 1}`);
  expect(await waysOf({ seq: 1 })).toEqual([{ calls: [{ seq: 1, force: true }] }]);
});

test("a zero chooses no checkpoint, and does not hide another choice", async () => {
  const { fixture, read, create, errorOf, text } = open();
  await using _ = fixture;
  await create("a.txt", "one\n");
  await create("b.txt", "two\n");
  expect(await errorOf({ seq: 0 })).toBe(
    "`seq` is 0, but checkpoints are numbered from 1. Nothing was undone. Send the number of a checkpoint that coder::checkpoints lists, or leave `seq` out to undo the newest.",
  );
  expect(await errorOf({ steps: 0, paths: ["b.txt"] })).toBe(
    "`steps` is 0. Nothing was undone. Send how many of the newest checkpoints to undo, or leave `steps` out to undo one.",
  );
  expect(await errorOf({ seq: "#0" })).toStartWith("`seq` is 0,");
  expect(read("b.txt")).toBe("two\n");
  expect(await text("coder::undo", { seq: 1, steps: 0 })).toStartWith("#1\n  removed: a.txt");
  const placeholders = { seq: 0, transaction: "", paths: [], steps: 1 };
  expect(await text("coder::undo", placeholders)).toStartWith("#3\n  restored: a.txt");
  expect(await text("coder::undo", { ...placeholders, steps: 0 })).toStartWith("#4\n  removed: a.txt");
});

test("a plain undo passes over checkpoints of which nothing is left", async () => {
  const { fixture, read, edit, create, call, text } = open();
  await using _ = fixture;
  await create("f.txt", "one\n");
  await create("d/a.txt", "one");
  await edit("f.txt", "one", "two");
  await call("coder::transact", {
    changes: [
      { op: "move", from: "d/a.txt", to: "d/b.txt" },
      { op: "move", from: "d/b.txt", to: "d/a.txt" },
    ],
  });
  await call("coder::transact", {
    changes: [
      { op: "create", path: "q", content: "x" },
      { op: "delete", path: "q" },
    ],
  });
  await edit("d/a.txt", "one", "three");
  writeFileSync(fixture.at("d/a.txt"), "one");
  const newest = (await call("coder::checkpoints", { limit: 1 })).checkpoints[0].seq;
  expect(newest).toBe(6);
  const passed = "[passed over #6, #5, #4: nothing of them is left to undo]\n#3\n  restored: f.txt\n";
  expect(await text("coder::undo", { dry_run: true })).toStartWith(passed);
  expect(await call("coder::undo", { dry_run: true })).toMatchObject({ passed_over: [6, 5, 4] });
  expect(await text("coder::undo", { paths: ["d"] })).toStartWith(
    "[passed over #6, #4: nothing of them is left to undo]\n#2\n  removed: d/a.txt\n",
  );
  expect(await text("coder::undo", { seq: 7 })).toContain("restored: d/a.txt");
  expect(await text("coder::undo", { seq: 6 })).toContain("Nothing was undone: what #6 changed is no longer");
  expect(read("f.txt")).toBe("two\n");
});

test("an undo of which nothing is left is not passed over: the one before could be what it redid", async () => {
  const { fixture, text, takeAway, read } = await redone();
  await using _ = fixture;
  takeAway();
  expect(await text("coder::undo")).toStartWith(
    "#4\nNothing was undone: what #4 changed is no longer there.",
  );
  expect(read("a.txt")).toBe("one\ntwo\n");
});

test("an undo says why nothing is left if no older checkpoint can be undone either", async () => {
  const { fixture, create, text } = open();
  await using _ = fixture;
  await create("f.txt", "one\n");
  rmSync(fixture.at("f.txt"));
  expect(await text("coder::undo")).toBe(
    "#1\nNothing was undone: what #1 changed is no longer there. f.txt: changed since by a command or another program. Send the seq of the one to undo; coder::checkpoints lists them.",
  );
});

test("the label of an undo of many counts those that it does not name", async () => {
  const { fixture, create, call } = open();
  await using _ = fixture;
  for (const path of ["1", "2", "3", "4", "5", "6", "7"]) await create(path, "x");
  await call("coder::undo", { steps: 7 });
  await call("coder::undo", { seq: 8 });
  const { checkpoints } = await call("coder::checkpoints", { limit: 2 });
  expect(checkpoints.map(({ label }: { label: string }) => label)).toEqual([
    "undo of #8",
    "undo of #7, #6, #5, #4, #3 and 2 more",
  ]);
});

test("an undo that changes nothing says why in JSON too", async () => {
  const { fixture, create, call } = open();
  await using _ = fixture;
  await create("a", "a\n");
  await call("coder::undo");
  const nothing = await call("coder::undo", { steps: 2 });
  expect(nothing.undone.map(({ restored, removed }: Answer) => [restored, removed])).toEqual(
    Array(2).fill([[], []]),
  );
  expect(nothing.note).toBe(
    "Nothing was undone: these took each other back, since an undo is a checkpoint too. Send the seq of the one to undo.",
  );
  const again = await call("coder::undo", { seq: 1, dry_run: true });
  expect(again.note).toBe("Nothing would be undone: undone already by #2. To redo, undo #2.");
  expect(await call("coder::undo")).not.toHaveProperty("note");
});

const swap = [
  { op: "move", from: "a", to: "t" },
  { op: "move", from: "b", to: "a" },
  { op: "move", from: "t", to: "b" },
];

const cancelling: Readonly<
  Record<string, readonly [paths: string, ...calls: (readonly [string, object])[]]>
> = {
  "a file that is created and deleted": [
    "x",
    ["coder::create-file", { path: "x", content: "1\n" }],
    ["coder::delete-file", { paths: ["x"] }],
  ],
  "a folder that is made and deleted": [
    "x",
    ["coder::make-folder", { paths: ["x"] }],
    ["coder::delete-file", { paths: ["x"] }],
  ],
  "a file that is moved there and back": [
    "a, c",
    ["coder::move", { from: "a", to: "c" }],
    ["coder::move", { from: "c", to: "a" }],
  ],
  "a folder that is moved there and back": [
    "d, e",
    ["coder::move", { from: "d", to: "e" }],
    ["coder::move", { from: "e", to: "d" }],
  ],
  "two swaps": ["a, b", ["coder::transact", { changes: swap }], ["coder::transact", { changes: swap }]],
  "two edits": [
    "a",
    ["coder::create-file", { path: "a", content: "2\n", overwrite: true }],
    ["coder::create-file", { path: "a", content: "a\n", overwrite: true }],
  ],
  "two modes": [
    "a",
    ["coder::transact", { changes: [{ op: "chmod", path: "a", mode: "0600" }] }],
    ["coder::transact", { changes: [{ op: "chmod", path: "a", mode: "0644" }] }],
  ],
};

test.each(Object.entries(cancelling))(
  "an undo of %s says that they took each other back",
  async (_, [paths, ...calls]) => {
    const { fixture, create, call, text } = open();
    await using __ = fixture;
    for (const path of ["a", "b", "d/f"]) await create(path, `${path}\n`);
    for (const one of calls) await call(...one);
    for (const dry_run of [true, false])
      expect(await text("coder::undo", { steps: 2, dry_run })).toStartWith(
        `#5\n#4\nNothing ${dry_run ? "would be" : "was"} undone: #5, #4 took each other back, so nothing is left of them at ${paths}. To undo #5 alone, send its seq.`,
      );
    expect(await text("coder::undo", { seq: 5 })).toContain("\nUndone; ");
  },
);

test("an undo of checkpoints that took only a part of each other back says so of each path", async () => {
  const { fixture, create, call, text } = open();
  await using _ = fixture;
  await call("coder::create-file", { files: ["p", "q"].map((path) => ({ path, content: "1\n" })) });
  await call("coder::delete-file", { paths: ["p"] });
  expect(await text("coder::undo", { steps: 2, dry_run: true })).toStartWith(
    "#2\n#1\n  removed: q\nWould be",
  );
  rmSync(fixture.at("q"));
  expect(lastLineOf(await text("coder::undo", { steps: 2 }))).toBe(
    "Nothing was undone: what #2, #1 changed is no longer there. p: as before them, since they took each other back. q: changed since by a command or another program. Send the seq of the one to undo; coder::checkpoints lists them.",
  );
  await create("p", "2\n");
  await call("coder::delete-file", { paths: ["p"] });
  const { undone } = await call("coder::undo", { steps: 2 });
  expect(undone.map(({ gone }: { gone: readonly object[] }) => gone)).toEqual([
    [{ path: "p", cancelled: true }],
    [{ path: "p", cancelled: true, by: 4 }],
  ]);
});

test("an undo that changes nothing has no note in the profile contract", async () => {
  await using fixture = new SessionsFixture({ profile: "contract" });
  const { call } = fixture.open({ worker: "anna" });
  await call("coder::create-file", { files: [{ path: "a", content: "a\n" }] });
  await call("coder::undo");
  expect(await call("coder::undo", { steps: 2 })).not.toHaveProperty("note");
});
