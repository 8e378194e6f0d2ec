/** Tests changes that replace a file which another program saves, or renames away and back. */
import { expect, spyOn, test } from "bun:test";
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Mutation } from "../filesystem/disk/mutation.ts";
import { Journal } from "../filesystem/journal/journal.ts";
import { SessionsFixture } from "./sessions.test-kit.ts";

const changes = {
  create: ["coder::create-file", { path: "f", content: "new\n", overwrite: true }],
  update: ["coder::update-file", { path: "f", ops: [{ op: "insert", at_line: 1, content: "new" }] }],
  copy: ["coder::copy", { from: "g", to: "f", overwrite: true }],
  move: ["coder::move", { from: "g", to: "f", overwrite: true }],
  "move in a transaction": [
    "coder::transact",
    { changes: [{ op: "move", from: "g", to: "f", overwrite: true }] },
  ],
} as const;

const programs: Readonly<Record<string, readonly ((at: (path: string) => string) => void)[]>> = {
  saves: [
    () => {},
    (at) => {
      writeFileSync(at("f~"), "saved\n");
      renameSync(at("f~"), at("f"));
    },
  ],
  "renames away and back": [(at) => renameSync(at("f"), at("q")), (at) => renameSync(at("q"), at("f"))],
};

const rows = Object.entries(changes).flatMap(([change, call]) =>
  Object.entries(programs).map(([program, acts]) => [change, program, call, acts] as const),
);

test.each(rows)("%s, and another program %s", async (_, program, [id, payload], [before, after]) => {
  await using fixture = new SessionsFixture({ index: "off" });
  const at = (path: string) => fixture.at(path);
  writeFileSync(at("f"), "old\n");
  writeFileSync(at("g"), "other\n");
  const calls = fixture.open({ client: "anna 1.0", session: "aaaaaaaa" });
  const real = Journal.prototype.before;
  let times = 0;
  const spy = spyOn(Journal.prototype, "before").mockImplementation(function (
    this: Journal,
    mutation: Mutation,
  ) {
    const isDue = mutation.path === "f" && !mutation.isTree && times++ === 0;
    if (isDue) before!(at);
    real.call(this, mutation);
    if (isDue) after!(at);
  });
  const said = await calls.text(id, payload).catch(String);
  spy.mockRestore();
  if (said.includes("#")) await calls.text("coder::undo", {});
  const contents = readdirSync(fixture.base).map((name) => readFileSync(at(name), "utf8"));
  expect({ said, contents }).toEqual({
    said,
    contents: expect.arrayContaining([program === "saves" ? "saved\n" : "old\n", "other\n"]),
  });
});
