/** Tests the differences of one call whose paths another program has changed since. */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "../sessions.test-kit.ts";

async function open() {
  const fixture = new SessionsFixture();
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const diffOf = (seq: number) => calls.text("coder::checkpoints", { seq, answer: "diff" });
  return { fixture, diffOf, ...calls };
}

test("a folder that another program has replaced by a file is not shown as a file of the call", async () => {
  const { fixture, call, diffOf } = await open();
  await using _ = fixture;
  await call("coder::make-folder", { paths: ["d"] });
  rmSync(fixture.at("d"), { recursive: true });
  writeFileSync(fixture.at("d"), "of another program\n");
  const text = await diffOf(1);
  expect(text).not.toContain("of another program");
  expect(text).toContain("it has been changed since");
});

test.each(["removed", "replaced"])("a folder that is %s since has no mode of a file", async (what) => {
  const { fixture, call, diffOf } = await open();
  await using _ = fixture;
  await call("coder::make-folder", { paths: ["d/e"] });
  rmSync(fixture.at("d"), { recursive: true });
  if (what === "replaced") mkdirSync(fixture.at("d"));
  expect(await diffOf(1)).not.toContain("undefined");
  await call("coder::create-file", { files: [{ path: "x/y", content: "y\n" }] });
  await call("coder::delete-file", { paths: ["x"], recursive: true });
  for (const seq of [1, 2, 3]) expect(await diffOf(seq)).not.toContain("undefined");
});
