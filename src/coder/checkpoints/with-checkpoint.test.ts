import { expect, spyOn, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createInvoke } from "../../calls/invoke.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import { functions } from "../functions.ts";
import { SessionsFixture } from "../sessions.test-kit.ts";

const author = { client: "anna 1.0", session: "aaaaaaaa" };

const edit = { ops: [{ op: "insert", at_line: 1, content: "x" }] };
const patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n";

/** A call of each function that changes the tree, ordered so that each succeeds. */
const calls: [id: string, payload: Record<string, unknown>][] = [
  ["coder::create-file", { files: [{ path: "a", content: "" }] }],
  ["coder::update-file", { files: [{ path: "a", ...edit }] }],
  ["coder::apply-patch", { patch }],
  ["coder::copy", { files: [{ from: "a", to: "b" }] }],
  ["coder::move", { files: [{ from: "b", to: "c" }] }],
  ["coder::make-folder", { paths: ["d"] }],
  ["coder::transact", { changes: [{ op: "update", path: "a", ...edit }] }],
  ["coder::replace", { query: "x", replacement: "z", path: "a" }],
  ["coder::delete-file", { paths: ["c"] }],
  ["coder::undo", {}],
];

test("each function that changes the tree answers its checkpoint, and takes a label for it", async () => {
  await using fixture = new SessionsFixture();
  const { call, text } = fixture.open(author);
  for (const [index, [id, payload]] of calls.entries()) {
    const label = `label ${index}`;
    expect([id, (await call(id, { ...payload, label })).checkpoint]).toEqual([id, index + 1]);
  }
  const { plan } = await call("coder::transact", {
    changes: [{ op: "delete", path: "a" }],
    dry_run: true,
    label: "of the plan",
  });
  expect((await call("coder::commit", { plan })).checkpoint).toBe(calls.length + 1);
  const { checkpoints } = await call("coder::checkpoints");
  expect(checkpoints.map(({ label }: { label: string }) => label)).toEqual([
    "of the plan",
    ...calls.map((_, index) => `label ${index}`).reverse(),
  ]);
  expect(await text("coder::undo")).toEndWith(`\n#${calls.length + 2}`);
  const tested = [...calls.map(([id]) => id), "coder::commit"];
  expect(
    functions
      .filter(({ effect }) => effect === "writes")
      .map(({ id }) => id)
      .sort(),
  ).toEqual(tested.sort());
});

test("a call says how many of its changes cannot be undone, whatever it is", async () => {
  await using fixture = new SessionsFixture({}, 4096);
  const { call, text } = fixture.open(author);
  for (const name of ["a", "b", "c"]) writeFileSync(fixture.at(name), name.repeat(5000));
  const small = { op: "create", path: "small", content: "x" };
  const both = ["a", "b"].map((path) => ({ op: "delete", path }));
  expect(await text("coder::transact", { changes: [small, ...both] })).toEndWith(
    "\n#1, 2 changes of which cannot be undone",
  );
  const written = { path: "c", content: "x", overwrite: true };
  expect(await call("coder::create-file", { files: [written] })).toMatchObject({ checkpoint: 2, losses: 1 });
  expect(await text("coder::delete-file", { paths: ["c"] })).toEndWith("\n#3");
});

const notRecorded = "[not recorded, so it cannot be undone]";

/** Makes the calls on a worker that does not record them. Returns their texts. */
async function textsOf(fixture: SessionsFixture): Promise<[id: string, text: string, answer: object][]> {
  const { call, text } = fixture.open(author);
  const texts: [string, string, object][] = [];
  for (const [id, payload] of calls.filter(([one]) => one !== "coder::undo")) {
    const asText = id === "coder::delete-file" ? { ...payload, paths: ["d"], recursive: true } : payload;
    texts.push([id, await text(id, asText), {}]);
    if (id === "coder::delete-file") texts.at(-1)![2] = await call(id, payload);
  }
  return texts;
}

test("each function that changes the tree says when nothing of it was recorded, once", async () => {
  await using fixture = new SessionsFixture();
  const { call, text } = fixture.open(author);
  await call("coder::create-file", { files: [{ path: "kept", content: "1" }] });
  {
    using _ = await fixture.breakJournal();
    for (const [id, said, answer] of await textsOf(fixture)) {
      expect([id, said]).toEqual([id, expect.stringMatching(/\n\[not recorded, so it cannot be undone\]$/)]);
      expect([id, said.match(/undone/g)]).toEqual([id, ["undone"]]);
      if (id === "coder::delete-file")
        expect(answer).toEqual({ losses: 1, results: [expect.objectContaining({ undo: "unavailable" })] });
    }
    expect(await text("coder::delete-file", { paths: ["none"] })).not.toContain("recorded");
    expect(await text("coder::delete-file", { paths: ["kept"], dry_run: true })).not.toContain("recorded");
    expect(await text("coder::info")).toMatch(
      /^journal: on, but the last change could not be recorded \(ENOTDIR\); \d+ changes since the start cannot be undone$/m,
    );
  }
  expect(await text("coder::create-file", { path: "new", content: "" })).toEndWith("\n#2");
  expect(await text("coder::info")).toMatch(
    /^journal: on, so coder::undo takes changes back, except \d+ changes since the start$/m,
  );
});

test("without a place for the journal each call says so too, and one that the user turned off does not", async () => {
  const environment = { XDG_STATE_HOME: "/dev/null" };
  await using fixture = new SessionsFixture({ journal: null }, undefined, environment);
  for (const [id, said] of await textsOf(fixture))
    expect([id, said.split("\n").at(-1)]).toEqual([id, notRecorded]);
  const { call } = fixture.open(author);
  expect(await call("coder::delete-file", { paths: ["none"] })).not.toHaveProperty("losses");
  const off = { max_bytes: 4096, max_records: 0 };
  await using silent = new SessionsFixture({ journal: off }, undefined, environment);
  for (const [id, said] of await textsOf(silent))
    expect([id, said]).toEqual([id, expect.not.stringContaining("undone")]);
  await using contract = new SessionsFixture({ journal: null, profile: "contract" }, undefined, environment);
  for (const [id, said, answer] of await textsOf(contract)) {
    expect([id, said]).toEqual([id, expect.not.stringContaining("undone")]);
    expect(JSON.stringify(answer)).not.toMatch(/losses|unavailable/);
  }
});

test("in the profile contract an answer does not change when the journal fails", async () => {
  await using fixture = new SessionsFixture({ profile: "contract" });
  const { call } = fixture.open(author);
  using _ = await fixture.breakJournal();
  expect(await call("coder::create-file", { files: [{ path: "a", content: "" }], label: "x" })).toEqual({
    results: [expect.objectContaining({ success: true })],
  });
  const removed = await call("coder::delete-file", { paths: ["a"] });
  expect(removed).toEqual({ results: [{ path: "a", removed: true, success: true }] });
  expect((await call("coder::info")).journal).toEqual({ enabled: true });
});

test("an undo names no other program for what was not recorded, nor the way back from itself", async () => {
  await using fixture = new SessionsFixture();
  const { call, text } = fixture.open(author);
  const create = (path: string, content: string) =>
    call("coder::create-file", { files: [{ path, content, overwrite: true }] });
  await create("a", "1");
  await create("b", "1");
  {
    using _ = await fixture.breakJournal();
    await create("a", "2");
  }
  const refused = await call("coder::undo", { seq: 1 });
  expect(refused.conflicts).toEqual([
    { seq: 1, path: "a", expected: "file", found: "file", unrecorded: true },
  ]);
  expect(await text("coder::undo", { seq: 1 })).toStartWith(
    "conflict: a is not what #1 left there: a change that was not recorded has changed it since\n",
  );
  expect(await text("coder::undo", { dry_run: true })).toStartWith(
    "#2\n  removed: b\n[not undone: a newer change that was not recorded]\nWould be undone.",
  );
  writeFileSync(fixture.at("b"), "2");
  expect((await call("coder::undo", { seq: 2 })).conflicts).toEqual([
    { seq: 2, path: "b", expected: "file", found: "file" },
  ]);
});

test("an undo that was not recorded offers no redo", async () => {
  await using fixture = new SessionsFixture();
  const { call, text } = fixture.open(author);
  await call("coder::create-file", { files: [{ path: "a", content: "1" }] });
  const { journal } = await fixture.runtime;
  spyOn(journal!, "before").mockImplementation((mutation) => {
    if (mutation.kind === "remove") journal!.lost.add(mutation, { at: 0, isRecorded: false });
  });
  expect(await text("coder::undo")).toBe(`#1\n  removed: a\nUndone.\n${notRecorded}`);
});

test("a conflict with a change that the record lists as lost names that record", async () => {
  await using fixture = new SessionsFixture({}, 4096);
  const { call } = fixture.open(author);
  const create = (content: string) =>
    call("coder::create-file", { files: [{ path: "a", content, overwrite: true }] });
  await create("x".repeat(5000));
  expect(await create("y")).toMatchObject({ checkpoint: 2, losses: 1 });
  expect((await call("coder::undo", { seq: 1 })).conflicts).toEqual([
    { seq: 1, path: "a", expected: "file", found: "file", by: 2 },
  ]);
});

test("a call that changed nothing has no checkpoint", async () => {
  await using fixture = new SessionsFixture();
  const { call } = fixture.open(author);
  await call("coder::create-file", { files: [{ path: "a", content: "" }] });
  expect(await call("coder::delete-file", { paths: ["none"] })).not.toHaveProperty("checkpoint");
  expect(await call("coder::delete-file", { paths: ["a"], dry_run: true })).not.toHaveProperty("checkpoint");
  expect(await call("coder::make-folder", { paths: ["a"] })).not.toHaveProperty("checkpoint");
});

test("in the profile contract only a call with a label is answered with its checkpoint", async () => {
  await using fixture = new SessionsFixture({ profile: "contract" });
  const { call } = fixture.open(author);
  const file = { path: "a", content: "", overwrite: true };
  expect(await call("coder::create-file", { files: [file] })).not.toHaveProperty("checkpoint");
  expect((await call("coder::create-file", { files: [file], label: "again" })).checkpoint).toBe(2);
});

test("the size of an answer counts its checkpoint", async () => {
  await using fixture = new SessionsFixture();
  const runtime = await fixture.runtime;
  const invoke = createInvoke(runtime, fixture.log);
  const transact = functions.find(({ id }) => id === "coder::transact")!;
  const outcome = await invoke(transact, { changes: [{ op: "create", path: "a", content: "" }] });
  expect(outcome).toMatchObject({ answer: { checkpoint: 1 } });
  if ("answer" in outcome) expect(outcome.bytes).toBe(jsonBytes(outcome.answer));
});
