/** Tests the owners and the set-id bits of files that an undo restores. */
import { expect, test } from "bun:test";
import { chmodSync, chownSync, statSync, writeFileSync } from "node:fs";
import { SessionsFixture } from "./sessions.test-kit.ts";

const isRoot = process.geteuid?.() === 0;
const [uid, gid] = isRoot ? [12_345, 54_321] : [process.geteuid!(), process.getegid!()];

function open(mode: number) {
  const fixture = new SessionsFixture();
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const path = fixture.at("f");
  writeFileSync(path, "one\n");
  if (isRoot) chownSync(path, uid, gid);
  chmodSync(path, mode);
  const found = () => {
    const stats = statSync(path);
    return [stats.uid, stats.gid, stats.mode & 0o7777];
  };
  return { fixture, found, path, ...calls };
}

const changes: Record<string, object> = {
  "coder::delete-file": { paths: ["f"] },
  "coder::transact": { changes: [{ op: "delete", path: "f" }] },
  "coder::update-file": { path: "f", ops: [{ op: "str_replace", old_str: "one", new_str: "two" }] },
};

test.each(Object.entries(changes))(
  "an undo of %s gives the owner and the set-id bits back",
  async (id, payload) => {
    for (const mode of [0o640, 0o4755, 0o6750]) {
      const { fixture, found, call } = open(mode);
      await using _ = fixture;
      await call(id, payload);
      await call("coder::undo");
      expect(found()).toEqual([uid, gid, mode]);
    }
  },
);

test("an undo of a mode does not give the set-id bits to another file", async () => {
  const { fixture, found, path, call } = open(0o4755);
  await using _ = fixture;
  await call("coder::transact", { changes: [{ op: "chmod", path: "f", mode: "0700" }] });
  expect(found()).toEqual([uid, gid, 0o700]);
  if (isRoot) chownSync(path, 0, 0);
  await call("coder::undo");
  expect(statSync(path).mode & 0o7777).toBe(0o755);
});
