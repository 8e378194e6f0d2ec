/** Undo of a thousand random calls at once, by one transaction, and undo of that. */
import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshSeed, randomFrom } from "../../tests/harness/random.ts";
import { buildTree, compareSnapshots, snapshotTree, type Tree } from "../../tests/harness/tree.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const tree: Tree = {
  "a/a": "one",
  "a/b/c": { text: "two", mode: 0o600 },
  "a/empty/": null,
  "b/l": { link: "../a/a" },
  "b/dangling": { link: "nowhere" },
  c: { text: "three", mode: 0o4755 },
  "closed/": { mode: 0o500 },
  "closed/x": "four",
};

test("1,000 random calls, undone and redone", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
  buildTree(root, tree);
  const journal = { dir, max_bytes: 1024 * 1024 * 1024, max_records: 100_000 };
  const config = { ...defaultConfig(), base_path: join(root, "base"), fsync: false, journal };
  const runtime = await openCoder({ ...config, call_timeout_ms: 600_000 }, { environment: {} });
  const log = createLog({ level: "error", form: "text", write: () => undefined });
  const invoke = createInvoke(runtime, log);
  const seed = freshSeed();
  const random = randomFrom(seed);
  const names = ["a", "b", "c", "l", "empty", "closed"];
  const path = () => Array.from({ length: 1 + random.below(3) }, () => random.pick(names)).join("/");
  const overwrite = () => random.chance(0.5);
  const call = async (id: string, payload: object) => {
    const outcome = await invoke(functions.find((one) => one.id === id)!, payload);
    if ("error" in outcome) throw new Error(`${outcome.error}, seed ${seed}`);
    return outcome.answer as Readonly<Record<string, readonly unknown[]>>;
  };
  const payloads: readonly (() => readonly [string, object])[] = [
    () => [
      "create-file",
      {
        files: [
          { path: path(), content: "x".repeat(random.below(5000)), overwrite: overwrite(), parents: true },
        ],
      },
    ],
    () => [
      "update-file",
      { files: [{ path: path(), ops: [{ op: "insert", at_line: 1, content: `${random.below(99)}\n` }] }] },
    ],
    () => ["delete-file", { paths: [path()], recursive: overwrite() }],
    () => ["move", { files: [{ from: path(), to: path(), overwrite: overwrite() }] }],
    () => ["copy", { files: [{ from: path(), to: path(), overwrite: overwrite() }] }],
    () => ["make-folder", { paths: [path()], mode: random.pick(["0700", "0755", "0500"]) }],
  ];
  const before = snapshotTree(root);
  for (let made = 0; made < 1000; made++) {
    const [name, payload] = random.pick(payloads)();
    await call(`coder::${name}`, payload);
  }
  const after = snapshotTree(root);
  const undone = await call("coder::undo", { steps: 1000 });
  expect({ seed, conflicts: undone["conflicts"] }).toEqual({ seed, conflicts: [] });
  expect({ seed, faults: compareSnapshots(snapshotTree(root), before) }).toEqual({ seed, faults: [] });
  const redone = await call("coder::undo", {});
  expect({ seed, conflicts: redone["conflicts"] }).toEqual({ seed, conflicts: [] });
  expect({ seed, faults: compareSnapshots(snapshotTree(root), after) }).toEqual({ seed, faults: [] });
  await runtime.close();
  for (const folder of [root, dir]) rmSync(folder, { recursive: true });
});
