/** Tests details of calls and answers that confuse models. */
import { expect, test } from "bun:test";
import { chmodSync, existsSync, linkSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

function open() {
  const fixture = new SessionsFixture();
  writeFileSync(fixture.at("f"), "one\n");
  chmodSync(fixture.at("f"), 0o644);
  return { fixture, ...fixture.open() };
}

test("a plan is carried out by the line that names it", async () => {
  const { fixture, call } = open();
  await using _ = fixture;
  const changes = [{ op: "delete", path: "f" }];
  const { plan } = await call("coder::transact", { changes, dry_run: true });
  expect(await call("coder::commit", { plan: `plan ${plan}` })).toMatchObject({ committed: true });
  expect(existsSync(fixture.at("f"))).toBe(false);
});

test("a mode is named, and one that is set already makes no checkpoint", async () => {
  const { fixture, text } = open();
  await using _ = fixture;
  const chmod = (mode: string) => text("coder::transact", { changes: [{ op: "chmod", path: "f", mode }] });
  expect(await chmod("0644")).toBe("f: mode 0644 is set already\nnothing had to be changed");
  expect(await chmod("755")).toBe("f: mode 0755 set\n#1");
  expect(statSync(fixture.at("f")).mode & 0o777).toBe(0o755);
});

test("an expected revision belongs to a path however that is written", async () => {
  const { fixture, call } = open();
  await using _ = fixture;
  const revision = `sha256:${"0".repeat(64)}`;
  const { results } = await call("coder::delete-file", {
    paths: ["f"],
    expected_revisions: { "./f": revision },
  });
  expect(results[0]).toMatchObject({
    success: false,
    error: expect.stringContaining("has another revision than the call expects"),
  });
});

test("an edit says which names keep the old text, and that a set-ID bit is removed", async () => {
  const { fixture, text } = open();
  await using _ = fixture;
  const notes = ["[its other name (a hard link) keeps the old text]", "[its set-group-ID bit is removed]"];
  const patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n";
  const ops = [{ op: "str_replace", old_str: "one", new_str: "two" }];
  for (const [name, id, payload] of [
    ["g", "coder::update-file", { path: "f", ops }],
    ["h", "coder::apply-patch", { patch }],
  ] as const) {
    writeFileSync(fixture.at("f"), "one\n");
    linkSync(fixture.at("f"), fixture.at(name));
    chmodSync(fixture.at("f"), 0o2755);
    expect((await text(id, payload)).split("\n").slice(2, 4)).toEqual(notes);
    expect(readFileSync(fixture.at(name), "utf8")).toBe("one\n");
    expect(statSync(fixture.at("f")).mode & 0o7777).toBe(0o755);
  }
  linkSync(fixture.at("f"), fixture.at("i"));
  const none = [{ op: "replace", pattern: "three", replacement: "", expect_matches: 0 }];
  expect(await text("coder::update-file", { path: "f", ops: none })).not.toContain("\n[");
});
