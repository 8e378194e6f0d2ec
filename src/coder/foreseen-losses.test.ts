/** Dry runs of deletions say what could not be undone, as the calls do that make them. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

const author = { client: "anna 1.0", session: "aaaaaaaa" };
const nothingChanged = "[dry run: nothing was changed]";
const room = 16 * 1024;

/** Makes files, and entries that the journal cannot keep. */
function populate(fixture: SessionsFixture): void {
  mkdirSync(fixture.at("d/e"), { recursive: true });
  for (const path of ["small", "d/small", "d/e/small"]) writeFileSync(fixture.at(path), "text\n");
  for (const path of ["large", "d/large", "d/e/large"]) writeFileSync(fixture.at(path), "x".repeat(room));
  for (const path of ["pipe", "d/pipe"]) execFileSync("mkfifo", [fixture.at(path)]);
  writeFileSync(Buffer.concat([Buffer.from(fixture.at("d/bad")), Buffer.from([0xff])]), "");
}

const deletions = (paths: readonly string[]) =>
  paths.map((path) => ({ op: "delete", path, recursive: true }));
const patchOf = (paths: readonly string[]) =>
  `*** Begin Patch\n${paths.map((path) => `*** Delete File: ${path}\n`).join("")}*** End Patch\n`;

const all = ["small", "large", "pipe", "d"];
const calls: Readonly<Record<string, readonly [id: string, payload: object, losses: number]>> = {
  "the deletion of paths": ["coder::delete-file", { paths: all, recursive: true }, 6],
  "the deletion of a file that is kept": ["coder::delete-file", { paths: ["small"] }, 0],
  "a transaction": ["coder::transact", { changes: deletions(all) }, 3],
  "a transaction that the journal keeps": ["coder::transact", { changes: deletions(["small"]) }, 0],
  "a patch": ["coder::apply-patch", { patch: patchOf(["small", "large"]) }, 1],
};

const undoable = ({ results = [] }: { readonly results?: readonly { readonly undo?: string }[] }) =>
  results.map(({ undo }) => undo);

test.each(Object.entries(calls))(
  "the dry run of %s has the losses of the call",
  async (_, [id, sent, count]) => {
    await using fixture = new SessionsFixture({}, room);
    populate(fixture);
    const { call, text } = fixture.open(author);
    const trial = await call(id, { ...sent, dry_run: true });
    expect(trial.losses).toBe(count === 0 ? undefined : count);
    const said = await text(id, { ...sent, dry_run: true });
    if (count === 0) expect(said).not.toContain("undone");
    else expect(said).toEndWith(`\n[${count} of these changes could not be undone]\n${nothingChanged}`);
    expect(said).not.toContain("recorded");
    const made = await call(id, sent);
    expect(made.losses).toBe(trial.losses);
    expect(undoable(made)).toEqual(undoable(trial));
  },
);

test("files that have no room together are lost from the first that has none", async () => {
  await using fixture = new SessionsFixture({}, room);
  const paths = ["a", "b", "c"];
  for (const path of paths) writeFileSync(fixture.at(path), "x".repeat(room / 2.5));
  const { call } = fixture.open(author);
  const trial = await call("coder::delete-file", { paths, dry_run: true });
  expect(undoable(trial)).toEqual([undefined, undefined, "unavailable"]);
  expect(undoable(await call("coder::delete-file", { paths }))).toEqual(undoable(trial));
});

test("a file over 256 MiB is lost, however large the journal is", async () => {
  await using fixture = new SessionsFixture({}, 1024 * 1024 * 1024);
  writeFileSync(fixture.at("a"), "");
  truncateSync(fixture.at("a"), 256 * 1024 * 1024 + 1);
  const { text } = fixture.open(author);
  expect(await text("coder::delete-file", { paths: ["a"], dry_run: true })).toBe(
    `a: removed, and cannot be undone\n[1 of these changes could not be undone]\n${nothingChanged}`,
  );
});

test("the losses of a dry run are not those of the commit of its plan, which has its own", async () => {
  await using fixture = new SessionsFixture({}, room);
  populate(fixture);
  const { call } = fixture.open(author);
  const { plan } = await call("coder::transact", { changes: deletions(["large"]), dry_run: true });
  expect(await call("coder::commit", { plan })).toMatchObject({ checkpoint: 1, losses: 1 });
});

test("a removal that a check stops is not foreseen", async () => {
  await using fixture = new SessionsFixture({}, room);
  populate(fixture);
  const { call } = fixture.open(author);
  const trial = await call("coder::delete-file", { paths: ["d"], dry_run: true });
  expect(trial).toEqual({ results: [expect.objectContaining({ success: false })] });
});

test("in the profile contract a dry run does not change", async () => {
  await using fixture = new SessionsFixture({ profile: "contract" }, room);
  populate(fixture);
  const { call } = fixture.open(author);
  expect(await call("coder::delete-file", { paths: ["large"], dry_run: true, label: "x" })).toEqual({
    results: [{ path: "large", success: true, removed: true }],
  });
});
