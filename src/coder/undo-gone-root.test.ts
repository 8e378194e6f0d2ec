/** Undo over several roots while the folder of one is not there. */
import { expect, test } from "bun:test";
import { existsSync, renameSync } from "node:fs";
import { FeedFixture } from "./changes.test-kit.ts";

const steps = {
  created: ["coder::create-file", { files: [{ path: "two/g", content: "" }] }],
  deleted: ["coder::delete-file", { paths: ["two/f"] }],
  edited: [
    "coder::update-file",
    { files: [{ path: "two/f", ops: [{ op: "insert", at_line: 1, content: "new" }] }] },
  ],
  "moved out": ["coder::move", { files: [{ from: "two/f", to: "one/g" }] }],
  "moved in": ["coder::move", { files: [{ from: "one/f", to: "two/g" }] }],
} as const;

/** Opens two roots with a file each, makes a call, and moves the folder of `two` away. */
async function afterCall([id, payload]: readonly [string, object]): Promise<FeedFixture> {
  const feed = await new FeedFixture().openRoots(["one", "two"], { profile: "agent" });
  const create = ["one/f", "two/f"].map((path) => ({ path, content: "text\n" }));
  await feed.call("coder::create-file", { files: create });
  await feed.call(id, payload);
  renameSync(feed.at("two"), feed.at("away"));
  return feed;
}

test.each(Object.entries(steps))(
  "what was %s in the root is not undone, and the reason is true",
  async (_, step) => {
    await using feed = await afterCall(step);
    const refusal = await feed.refused("coder::undo", {});
    expect(refusal).toContain('"code":"C216"');
    expect(refusal).toMatch(
      /changed \\+"two\/[fg]\\+", and the folder of the root \\+"two\\+" is not there\. Nothing was undone/,
    );
    const { undone, conflicts } = (await feed.call("coder::undo", { force: true })) as Undo;
    expect(conflicts).toEqual([]);
    expect(undone[0]!.skipped).toContainEqual({
      path: expect.stringMatching(/^two\//),
      reason: "root-gone",
    });
  },
);

interface Undo {
  readonly undone: readonly { readonly skipped: readonly object[]; readonly restored: readonly string[] }[];
  readonly conflicts: readonly object[];
}

test("with force the rest is undone, and the whole once the folder is back", async () => {
  await using feed = await afterCall(["coder::delete-file", { paths: ["one/f", "two/f"] }]);
  const seq = 2;
  const dry = (await feed.call("coder::undo", { seq, force: true, dry_run: true })) as Undo;
  expect(dry.undone[0]).toMatchObject({ restored: ["one/f"] });
  await feed.call("coder::undo", { seq, paths: ["one/f"] });
  expect(existsSync(feed.at("one/f"))).toBe(true);
  renameSync(feed.at("away"), feed.at("two"));
  await feed.call("coder::undo", { seq });
  expect(existsSync(feed.at("two/f"))).toBe(true);
});
