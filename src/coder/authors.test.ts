import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

const anna = { client: "anna 1.0", session: "aaaaaaaa" };
const ben = { client: "ben 2.0", session: "bbbbbbbb" };

const create = (path: string, content = "") => ({ files: [{ path, content }] });

test("undo takes back the caller's own newest checkpoint", async () => {
  await using fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  await one.call("coder::create-file", create("a"));
  await other.call("coder::create-file", create("b"));
  await one.call("coder::undo");
  expect([existsSync(fixture.at("a")), existsSync(fixture.at("b"))]).toEqual([false, true]);
  const { checkpoints } = await one.call("coder::checkpoints");
  expect(checkpoints.map(({ seq, author, mine }: never) => [seq, author, mine])).toEqual([
    [3, anna, true],
    [2, ben, undefined],
    [1, anna, true],
  ]);
});

test("an undo of others' work needs its number or its author", async () => {
  await using fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  await one.call("coder::create-file", create("a"));
  await one.call("coder::create-file", create("b"));
  await expect(other.call("coder::undo")).rejects.toThrow(
    "No checkpoint of yours is left to undo here. The newest is #2 by anna 1.0 (session aaaaaaaa). Nothing was undone. Send `seq` 2",
  );
  await expect(other.call("coder::undo", { paths: ["a"] })).rejects.toThrow("The newest is #1 by anna 1.0");
  await expect(other.call("coder::undo", { paths: ["c"] })).rejects.toThrow("no checkpoint of these paths");
  await other.call("coder::undo", { author: "aaaaaaaa" });
  expect([existsSync(fixture.at("a")), existsSync(fixture.at("b"))]).toEqual([true, false]);
  await other.call("coder::undo", { seq: 1 });
  expect(existsSync(fixture.at("a"))).toBe(false);
});

test("an undo of an author without checkpoints names that author, and those who have some", async () => {
  await using fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  await one.call("coder::create-file", create("a"));
  await other.call("coder::create-file", create("b"));
  const refusal = (calls: typeof one, payload: object): Promise<string> =>
    calls.call("coder::undo", payload).catch((error: Error) => JSON.parse(error.message).message);
  for (const author of ["carl", "ben 2.0"])
    expect(await refusal(one, { author })).toBe(
      `No checkpoint of the author "${author}" is left to undo here. The authors are "bbbbbbbb" (ben 2.0), "aaaaaaaa" (anna 1.0). The newest is #2 by ben 2.0 (session bbbbbbbb). Nothing was undone. Send \`seq\` 2 to undo that one.`,
    );
  expect(await refusal(other, { author: "bbbbbbbb", paths: ["a"] })).toStartWith(
    'No checkpoint of the author "bbbbbbbb" is left to undo here. The authors are "aaaaaaaa" (anna 1.0). The newest is #1',
  );
  expect(await refusal(other, { author: "me", paths: ["a"] })).toStartWith(
    "No checkpoint of yours is left to undo here. The newest is #1",
  );
});

test("an undo of another's change says whose it was, and one of the caller's own does not", async () => {
  await using fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  await one.call("coder::create-file", create("a"));
  expect(await other.text("coder::undo", { seq: 1, dry_run: true })).toStartWith(
    "#1 by anna 1.0 (session aaaaaaaa)\n  removed: a\n",
  );
  expect((await other.call("coder::undo", { seq: 1, dry_run: true })).undone[0].author).toEqual(anna);
  expect(await one.text("coder::undo", { dry_run: true })).toStartWith("#1\n");
  await using older = new SessionsFixture({ profile: "contract" });
  await older.open(anna).call("coder::create-file", create("a"));
  const { undone } = await older.open(ben).call("coder::undo", { seq: 1 });
  expect(undone[0]).not.toHaveProperty("author");
});

test("undo of paths takes the newest checkpoint of each, and only there", async () => {
  await using fixture = new SessionsFixture();
  const one = fixture.open(anna);
  const edit = (path: string, content: string) =>
    one.call("coder::create-file", { files: [{ path, content, overwrite: true }] });
  const both = (content: string) =>
    one.call("coder::create-file", {
      files: ["a", "b"].map((path) => ({ path, content, overwrite: true })),
    });
  await both("1");
  await both("2");
  await edit("b", "3");
  await edit("c", "4");
  const read = () => ["a", "b", "c"].map((path) => readFileSync(fixture.at(path), "utf8"));
  const preview = await one.text("coder::undo", { paths: ["a", "b"], dry_run: true });
  expect(preview).toBe(
    "#3\n  restored: b\n#2\n  restored: a\nWould be undone.\n[dry run: nothing was changed]",
  );
  await one.call("coder::undo", { paths: ["a", "b"] });
  expect(read()).toEqual(["1", "2", "4"]);
  await one.call("coder::undo");
  expect(read()).toEqual(["2", "3", "4"]);
});

describe("a client without a session", () => {
  const one = { client: "raw 1" };
  const refusal =
    "This client has no session, so its checkpoints cannot be distinguished from those of other clients. Nothing was undone. The newest is #2 by raw 1 (without a session). Send `seq` 2";

  test("undoes a checkpoint by its number only", async () => {
    await using fixture = new SessionsFixture();
    const [first, second] = [fixture.open(one), fixture.open({ ...one })];
    await expect(second.call("coder::undo")).rejects.toThrow("The journal has no checkpoint to undo.");
    await first.call("coder::create-file", create("a"));
    await second.call("coder::create-file", create("b"));
    for (const payload of [{}, { steps: 2 }, { author: "me" }, { paths: ["b"] }, { dry_run: true }])
      await expect(second.call("coder::undo", payload)).rejects.toThrow(refusal);
    await expect(second.call("coder::undo", { paths: ["a"] })).rejects.toThrow("The newest is #1 by raw 1");
    expect([existsSync(fixture.at("a")), existsSync(fixture.at("b"))]).toEqual([true, true]);
    await second.call("coder::undo", { seq: 1 });
    await second.call("coder::undo", { author: "anyone" });
    expect([existsSync(fixture.at("a")), existsSync(fixture.at("b"))]).toEqual([true, true]);
  });

  test("is not told which changes are its own, nor others", async () => {
    await using fixture = new SessionsFixture();
    const [first, second] = [fixture.open(one), fixture.open({ ...one })];
    await first.call("coder::create-file", create("a"));
    const { checkpoints } = await second.call("coder::checkpoints");
    expect(checkpoints.map(({ author, mine }: never) => [author, mine])).toEqual([[one, undefined]]);
    const text = "coder::create-file by raw 1 (without a session)";
    expect(await second.text("coder::changes")).toContain(`created: a (${text})`);
    const { net } = await second.call("coder::changes", { checkpoint: 0, answer: "names" });
    expect(net.map(({ by }: never) => by)).toEqual([["raw 1 (without a session)"]]);
    for (const by of ["me", "others"])
      for (const id of ["coder::checkpoints", "coder::changes"])
        await expect(second.call(id, { by })).rejects.toThrow(
          "but this client has no session, so its changes cannot be distinguished from those of other clients",
        );
    expect((await second.call("coder::info")).journal).toEqual({ enabled: true });
  });

  test("is another author than a session of its name", async () => {
    await using fixture = new SessionsFixture();
    await fixture.open(one).call("coder::create-file", create("a"));
    const session = fixture.open({ ...one, session: "cccccccc" });
    await expect(session.call("coder::undo")).rejects.toThrow(
      "The newest is #1 by raw 1 (without a session)",
    );
    expect((await session.call("coder::info")).journal).toEqual({ enabled: true, others: 1 });
  });
});

test("in the profile contract undo takes back the newest checkpoint of all", async () => {
  await using fixture = new SessionsFixture({ profile: "contract" });
  await fixture.open(anna).call("coder::create-file", create("a"));
  await fixture.open(ben).call("coder::undo");
  expect(existsSync(fixture.at("a"))).toBe(false);
});

test("a session is told of the checkpoints of others when it begins, and by info", async () => {
  await using fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  const runtime = await fixture.runtime;
  expect(runtime.describeOthers!()).toBeUndefined();
  await one.call("coder::create-file", create("a"));
  await one.call("coder::create-file", create("b"));
  expect(runtime.describeOthers!()).toBe(
    "The journal has 2 checkpoints of others, the newest #2 by anna 1.0 (session aaaaaaaa) (coder::create-file). coder::checkpoints lists them. coder::undo takes back your own changes, and those of others only with seq.",
  );
  expect((await one.call("coder::info")).journal).toEqual({ enabled: true });
  expect((await other.call("coder::info")).journal).toEqual({ enabled: true, others: 2 });
  expect(await other.text("coder::info")).toContain("takes changes back; 2 checkpoints of others");
  expect(await other.text("coder::checkpoints", { path: "z", by: "me" })).toBe(
    "Nothing is recorded by you at z.",
  );
  const text = await other.text("coder::checkpoints", { limit: 1 });
  expect(text).toMatch(/^#2 {2}[\d: -]+ {2}coder::create-file {2}by anna 1\.0 \(session aaaaaaaa\)\n/);
});

test("the feed names the author and the checkpoint of a call", async () => {
  await using fixture = new SessionsFixture();
  const [one, other] = [fixture.open(anna), fixture.open(ben)];
  await one.call("coder::create-file", create("a"));
  const { changes } = await other.call("coder::changes");
  expect(changes.map(({ cause }: never) => cause)).toEqual([
    { by: "call", function_id: "coder::create-file", author: anna, checkpoint: 1 },
  ]);
  expect(await other.text("coder::changes")).toContain(
    "created: a (coder::create-file by anna 1.0 (session aaaaaaaa))",
  );
  expect(await one.text("coder::changes")).toContain("created: a (coder::create-file)");
});
