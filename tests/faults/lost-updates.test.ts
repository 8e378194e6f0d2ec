/** Calls on one file queue up, whichever path they use for it, and none is lost. */

import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { deadlineIn } from "../../src/base/scheduling/deadline.ts";
import { openCoder } from "../../src/coder/services.ts";
import { buildTree } from "../harness/tree.ts";
import { startWorker, temporaryFolder } from "../harness/worker-fixture.ts";
import { edit } from "./edit.ts";
import { configOf } from "./settings.ts";

const tree = { "f.txt": "0\n", "link.txt": { link: "f.txt" }, "d/up": { link: ".." } };
const spellings = ["f.txt", "./f.txt", "link.txt", "d/../f.txt", "d/up/link.txt"];

test("2,000 concurrent inserts over the bus end with 2,000 lines more", async () => {
  const served = await startWorker("source", { fsync: false, max_read_bytes: 100 });
  try {
    served.build(tree);
    const lines = Array.from({ length: 2000 }, (_, index) => `line ${index}`);
    const answers = await Promise.all(
      lines.map((content, index) =>
        served.engine.call("coder::update-file", {
          files: [
            { path: spellings[index % spellings.length], ops: [{ op: "insert", at_line: 1, content }] },
          ],
        }),
      ),
    );
    const counts = (answers as { results: { new_line_count: number }[] }[]).map(
      ({ results }) => results[0]!.new_line_count,
    );
    // No two calls saw the file with the same number of lines.
    expect(counts.sort((one, other) => one - other)).toEqual(lines.map((_, index) => index + 2));
    const found = readFileSync(join(served.base, "f.txt"), "utf8").split("\n");
    expect(found.slice(0, -2).sort()).toEqual(lines.sort());
  } finally {
    await served.stop();
  }
});

test("2,000 concurrent increments of one file end at 2,000", async () => {
  const root = temporaryFolder();
  buildTree(root, tree);
  const runtime = await openCoder(await configOf({ base_path: join(root, "base"), fsync: false }), {
    environment: process.env,
  });
  const deadline = deadlineIn(30_000);
  // Lets every other call that is ready run between the read and the write.
  const increment = async (before: Buffer) => {
    await new Promise(setImmediate);
    return Buffer.from(`${Number(before) + 1}\n`);
  };
  await Promise.all(
    Array.from({ length: 2000 }, (_, index) =>
      edit(runtime, spellings[index % spellings.length]!, increment, { deadline }),
    ),
  );
  expect(readFileSync(join(root, "base/f.txt"), "utf8")).toBe("2000\n");
  await runtime.close();
  rmSync(root, { recursive: true });
});

test("edits and overwrites of one file, mixed, leave one of the states they may make", async () => {
  const served = await startWorker("source", { fsync: false });
  try {
    served.build(tree);
    const overwrite = () =>
      served.engine.call("coder::create-file", {
        files: [{ path: "f.txt", content: "new\n", overwrite: true }],
      });
    const insert = () =>
      served.engine.call("coder::update-file", {
        files: [{ path: "link.txt", ops: [{ op: "insert", at_line: 1, content: "line" }] }],
      });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => (index % 10 === 0 ? overwrite() : insert())),
    );
    for (const answer of answers) expect(answer).toMatchObject({ results: [{ success: true }] });
    expect(readFileSync(join(served.base, "f.txt"), "utf8")).toMatch(/^(line\n)*new\n$/);
  } finally {
    await served.stop();
  }
});
