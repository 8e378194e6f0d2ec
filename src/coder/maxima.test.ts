/** Fields above their maximum: an answer that depends on it names the maximum, and a call that works. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

const levels = Array.from({ length: 62 }, (_, index) => `d${index + 1}`);

interface Node {
  readonly path: string;
  readonly children?: readonly Node[];
  readonly truncated?: { readonly hint: string };
}

test("a tree of the maximum depth advises the deeper folder, whatever max_depth was sent", async () => {
  await using fixture = new SessionsFixture();
  const { call, text } = fixture.open();
  mkdirSync(fixture.at(levels.join("/")), { recursive: true });
  for (const max_depth of [60, 61, 100]) {
    let { root: node } = (await call("coder::tree", { max_depth })) as { root: Node };
    while (node.children !== undefined) node = node.children[0]!;
    expect(node).toMatchObject({
      path: levels.slice(0, 60).join("/"),
      truncated: { hint: "Not opened: max_depth is at most 60. Send this folder as path." },
    });
    const shown = await text("coder::tree", { max_depth });
    expect(shown.split("\n").at(-1)).toBe(
      "[… at depth 60 is not opened, since max_depth is at most 60: send that folder as path]",
    );
    expect(await text("coder::tree", { max_depth, path: node.path })).toBe("d60/\n  d61/\n    d62/");
  }
  expect(await text("coder::tree", { max_depth: 59 })).toContain("send a larger max_depth");
});

test("in the profile contract the hint of a tree is that of 0.2.0", async () => {
  await using fixture = new SessionsFixture({ profile: "contract" });
  mkdirSync(fixture.at(levels.join("/")), { recursive: true });
  const answer = await fixture.open().call("coder::tree", { max_depth: 100 });
  expect(JSON.stringify(answer)).toContain("Send a larger max_depth, or this folder as path.");
});

test("a page of a listing names the maximum of page_size if it was exceeded and entries are left", async () => {
  await using fixture = new SessionsFixture({ list_max_page_size: 2 });
  const { text } = fixture.open();
  for (const name of ["a", "b", "c"]) writeFileSync(fixture.at(name), "");
  const lastOf = async (payload: object) => (await text("coder::list-folder", payload)).split("\n").at(-1);
  expect(await lastOf({ page_size: 3 })).toBe(
    "[page 1: 2 of 3 entries; page_size is at most 2; send page 2 for more]",
  );
  expect(await lastOf({ page_size: 2 })).toBe("[page 1: 2 of 3 entries; send page 2 for more]");
});
