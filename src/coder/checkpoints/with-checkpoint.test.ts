import { expect, test } from "bun:test";
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
