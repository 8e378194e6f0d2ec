/** Tests undo where `force` does not help: through links, and over entries that it never replaces. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

function open() {
  const fixture = new SessionsFixture();
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const create = (path: string, content = "one\n") => calls.call("coder::create-file", { path, content });
  const read = (path: string) => readFileSync(fixture.at(path), "utf8");
  return { fixture, create, read, ...calls };
}

/** Edits a file in a folder as #2, and replaces that folder by a link to another one with such a file. */
async function linked(content: string) {
  const opened = open();
  const { fixture, create, call } = opened;
  await create("zz/f.txt");
  await call("coder::update-file", {
    path: "zz/f.txt",
    ops: [{ op: "str_replace", old_str: "one", new_str: "two" }],
  });
  rmSync(fixture.at("zz"), { recursive: true });
  mkdirSync(fixture.at("inn"));
  writeFileSync(fixture.at("inn/f.txt"), content);
  symlinkSync("inn", fixture.at("zz"));
  return opened;
}

test.each(["precious\n", "two\n"])(
  "an undo does not follow a link in place of a folder, to %j",
  async (content) => {
    const { fixture, read, call, text } = await linked(content);
    await using _ = fixture;
    expect(await text("coder::undo")).toBe(
      'conflict: zz was a folder when #2 changed what is in it, and is a link now\nNothing was undone; move away zz with coder::move, make zz with the op make-folder of coder::transact, then coder::undo {"seq":2,"force":true}.',
    );
    const { conflicts } = await call("coder::undo", { steps: 2 });
    const left = { path: "zz", seq: 2, expected: "dir", found: "symlink", stays: true };
    expect(conflicts).toEqual([{ ...left, below: "zz/f.txt", then_force: true }]);
    expect(await text("coder::undo", { force: true })).toBe(
      '#2\n  skipped: zz/f.txt (in-the-way)\nconflict: zz was a folder when #2 changed what is in it, and is a link now\nNothing was undone; move away zz with coder::move, make zz with the op make-folder of coder::transact, then coder::undo {"seq":2,"force":true}.',
    );
    await call("coder::undo", { steps: 2, force: true });
    expect(read("inn/f.txt")).toBe(content);
    expect(await text("coder::changes", { checkpoint: 1, path: "zz/f.txt", answer: "stat" })).toStartWith(
      "deleted: zz/f.txt",
    );
  },
);

test("a removed folder is not restored, and a created one not removed, through a link", async () => {
  const { fixture, create, read, call, text } = open();
  await using _ = fixture;
  for (const path of ["a/b/c.txt", "n/x.txt"]) await create(path);
  await call("coder::delete-file", { paths: ["a/b"], recursive: true });
  rmSync(fixture.at("a"), { recursive: true });
  mkdirSync(fixture.at("inn"));
  writeFileSync(fixture.at("inn/x.txt"), "one\n");
  symlinkSync("inn", fixture.at("a"));
  expect(await text("coder::undo")).toStartWith("conflict: a was a folder when #3 changed");
  expect(existsSync(fixture.at("inn/b"))).toBe(false);
  rmSync(fixture.at("n"), { recursive: true });
  symlinkSync("inn", fixture.at("n"));
  expect(await text("coder::undo", { seq: 2 })).toStartWith("conflict: n was a folder when #2 changed");
  await call("coder::undo", { seq: 2, force: true });
  expect(read("inn/x.txt")).toBe("one\n");
});

test("force is not advised where something that it leaves is in the way", async () => {
  const { fixture, create, call, text } = open();
  await using _ = fixture;
  await create("f.txt");
  await call("coder::move", { from: "f.txt", to: "g.txt" });
  writeFileSync(fixture.at("f.txt"), "new\n");
  expect(await text("coder::undo")).toBe(
    'conflict: f.txt is not what #2 left there: a command or another program has changed it since, and it is a file now\nNothing was undone; move away f.txt with coder::move, then coder::undo {"seq":2}: force leaves that as it is.',
  );
  rmSync(fixture.at("f.txt"));
  rmSync(fixture.at("g.txt"));
  expect(await text("coder::undo", { seq: 2 })).toContain(
    'no calls are known that undo it. Ask the user to bring g.txt into the state that #2 left, then send coder::undo {"seq":2}.',
  );
});

test("a conflict about a folder names what is in it", async () => {
  const { fixture, create, call, text } = open();
  await using _ = fixture;
  await create("src3/a.txt");
  await create("b.txt");
  writeFileSync(fixture.at("src3/new.txt"), "new\n");
  writeFileSync(fixture.at("b.txt"), "new\n");
  expect(await text("coder::undo", { seq: 1 })).toBe(
    'conflict: src3 is not what #1 left there: a command or another program has changed it since; src3/new.txt is in it\nNothing was undone; move away src3/new.txt with coder::move, then coder::undo {"seq":1}: force leaves that as it is.',
  );
  const both = await text("coder::undo", { steps: 2 });
  expect(both).toEndWith(
    '; move away src3/new.txt with coder::move, then coder::undo {"seq":2,"force":true}, then coder::undo {"seq":1,"force":true}.',
  );
  await call("coder::delete-file", { paths: ["b.txt"] });
  mkdirSync(fixture.at("b.txt"));
  expect(await text("coder::undo", { seq: 3 })).toContain(
    '; move away b.txt with coder::move, then coder::undo {"seq":3}',
  );
});
