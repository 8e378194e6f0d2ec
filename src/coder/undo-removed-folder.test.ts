/** Tests the undo of folders that went or came with everything in them, and of what is in them. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

/** Starts a worker over a folder `d` with the files `a` and `x/b`. */
async function open() {
  const fixture = new SessionsFixture();
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const files = ["d/a", "d/x/b"].map((path) => ({ path, content: `${path}\n` }));
  await calls.call("coder::create-file", { files });
  const listed = async (payload: object) =>
    (await calls.text("coder::checkpoints", payload)).split("\n").slice(1);
  const isThere = (path: string) => existsSync(fixture.at(path));
  return { fixture, listed, isThere, ...calls };
}

const removals = {
  "coder::delete-file": { paths: ["d"], recursive: true },
  "coder::transact": { changes: [{ op: "delete", path: "d", recursive: true }] },
};

test.each(Object.entries(removals))("%s of a folder lists all that is gone", async (id, payload) => {
  const { fixture, listed, call } = await open();
  await using _ = fixture;
  await call(id, payload);
  const all = ["  deleted: d", "  deleted: d/a", "  deleted: d/x", "  deleted: d/x/b"];
  expect((await listed({ seq: 2 })).sort()).toEqual(all);
  const stat = await listed({ seq: 2, answer: "stat" });
  expect(stat.sort()).toEqual([all[0]!, `${all[1]} +0 -1`, all[2]!, `${all[3]} +0 -1`]);
  expect(await listed({ seq: 2, answer: "diff" })).toContain("-d/x/b");
  const { checkpoints } = await call("coder::checkpoints", { path: "d/x/b" });
  expect(checkpoints.map(({ seq }: never) => seq)).toEqual([2, 1]);
});

test.each(Object.entries(removals))(
  "one file of a folder that %s deleted comes back",
  async (id, payload) => {
    const { fixture, isThere, call, text } = await open();
    await using _ = fixture;
    await call(id, payload);
    expect(await text("coder::undo", { paths: ["d/x/b"] })).toBe(
      "#2\n  restored: d\n  restored: d/x\n  restored: d/x/b\nUndone; coder::undo with seq 3 takes this undo back.\n#3",
    );
    expect(readFileSync(fixture.at("d/x/b"), "utf8")).toBe("d/x/b\n");
    expect(isThere("d/a")).toBe(false);
    await call("coder::undo", { seq: 2 });
    expect([isThere("d/a"), isThere("d/x/b")]).toEqual([true, true]);
    await call("coder::undo");
    await call("coder::undo", { seq: 3 });
    expect(isThere("d")).toBe(false);
  },
);

test("a copied folder lists all that is new, and one file of the copy can be undone", async () => {
  const { fixture, listed, isThere, call, text } = await open();
  await using _ = fixture;
  await call("coder::copy", { from: "d", to: "c" });
  expect(await listed({ seq: 2 })).toEqual([
    "  created: c",
    "  created: c/a",
    "  created: c/x",
    "  created: c/x/b",
  ]);
  await call("coder::undo", { seq: 2, paths: ["c/a"] });
  expect([isThere("c/a"), isThere("c/x/b")]).toEqual([false, true]);
  writeFileSync(fixture.at("c/x/b"), "new\n");
  expect(await text("coder::undo", { seq: 2 })).toBe(
    'conflict: c/x/b is not what #2 left there: a command or another program has changed it since\nNothing was undone; send coder::undo {"seq":2,"force":true} to undo over conflicts.',
  );
  await call("coder::undo", { seq: 2, force: true });
  expect(isThere("c")).toBe(false);
});

test("a file whose folder another program removed is not said to be changed", async () => {
  const { fixture, call, text } = await open();
  await using _ = fixture;
  await call("coder::delete-file", { paths: ["d/x/b"] });
  rmSync(fixture.at("d/x"), { recursive: true });
  expect(await text("coder::undo")).toBe(
    'conflict: d/x was a folder when #2 changed what is in it, and is not there now\nNothing was undone; make d/x with the op make-folder of coder::transact, then coder::undo {"seq":2}: force leaves that as it is.',
  );
});
