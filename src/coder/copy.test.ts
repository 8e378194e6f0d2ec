/** Tests copies over files that they equal. */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

/** Starts a worker over the equal files `a` and `b`, and `c` with another content. */
async function open() {
  const fixture = new SessionsFixture();
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const files = [
    { path: "a", content: "one\n" },
    { path: "b", content: "one\n" },
    { path: "c", content: "two\n" },
  ];
  await calls.call("coder::create-file", { files });
  const checkpoints = async () =>
    (await calls.call("coder::checkpoints", {})).checkpoints.map(({ seq }: never) => seq);
  return { fixture, checkpoints, ...calls };
}

const over = { from: "a", to: "b", overwrite: true };

test("a copy over an equal file makes no checkpoint", async () => {
  const { fixture, checkpoints, call, text } = await open();
  await using _ = fixture;
  const { ino } = statSync(fixture.at("b"));
  for (const dry_run of [true, false]) {
    const { results } = await call("coder::copy", { files: [over], dry_run });
    expect(results).toEqual([{ from: "a", to: "b", success: true, copied: false }]);
    expect(await text("coder::copy", { files: [over], dry_run })).toContain(
      "b: is there already, equal to a",
    );
  }
  await call("coder::transact", { changes: [{ op: "copy", ...over }] });
  expect([await checkpoints(), statSync(fixture.at("b")).ino]).toEqual([[1], ino]);
});

test("a copy that changes the content or only the mode is made", async () => {
  const { fixture, checkpoints, call } = await open();
  await using _ = fixture;
  chmodSync(fixture.at("a"), 0o600);
  for (const to of ["b", "c"]) {
    const file = { ...over, to };
    for (const dry_run of [true, false]) {
      const { results } = await call("coder::copy", { files: [file], dry_run });
      expect(results).toEqual([{ from: "a", to, success: true, copied: true, replaced: true }]);
    }
    expect(statSync(fixture.at(to)).mode & 0o777).toBe(0o600);
    expect(readFileSync(fixture.at(to), "utf8")).toBe("one\n");
  }
  expect(await checkpoints()).toEqual([3, 2, 1]);
});

test("entries of a dry run and of the call agree on a copy over a file that an earlier one made equal", async () => {
  const { fixture, call } = await open();
  await using _ = fixture;
  const files = [
    { ...over, to: "c" },
    { ...over, from: "c" },
    { ...over, from: "b", to: "c" },
  ];
  const trial = await call("coder::copy", { files, dry_run: true });
  expect(trial.results.map(({ copied }: never) => copied)).toEqual([true, false, false]);
  expect(await call("coder::copy", { files })).toEqual({ ...trial, checkpoint: 2 });
});

test("a move over an equal file is made, since its old path goes", async () => {
  const { fixture, checkpoints, call } = await open();
  await using _ = fixture;
  const { results } = await call("coder::move", { files: [over] });
  expect(results).toEqual([{ from: "a", to: "b", success: true, moved: true, replaced: true }]);
  expect(await checkpoints()).toEqual([2, 1]);
});
