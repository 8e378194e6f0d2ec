/** Calls over several roots, and their undo. */
import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addToTree, compareSnapshots, snapshotTree } from "../../tests/harness/tree.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const tree = {
  "base/": null,
  "base/one/d/a.txt": "a\n",
  "base/one/d/deep/b.txt": { text: "b\n", mode: 0o755 },
  "base/one/d/link": { link: "a.txt" },
  "base/one/f.txt": "f\n",
  "base/two/g.txt": "g\n",
} as const;

const move = (from: string, to: string) => ({ op: "move", from, to, overwrite: true });

/** Calls that change both roots. */
const changes: readonly (readonly [string, string, object])[] = [
  ["a move of a folder", "coder::move", { files: [{ from: "one/d", to: "two/new/d" }] }],
  ["a move of a file", "coder::move", { files: [{ from: "one/f.txt", to: "two/g.txt", overwrite: true }] }],
  ["a transaction", "coder::transact", { changes: [move("one/d", "two/d"), move("two/g.txt", "one/f.txt")] }],
];

test.each(
  ["openat", "descriptors", "current-directory"].flatMap((backend) =>
    changes.map((one) => [backend, ...one] as const),
  ),
)("%s: %s from one root into another is undone", async (backend, _, id, payload) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const state = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
  addToTree(root, tree);
  const roots = ["one", "two"].map((name) => {
    const path = join(root, "base", name);
    return { name, path, read_only: false, non_accessible_globs: [] };
  });
  const journal = { dir: state, max_bytes: 1024 * 1024, max_records: 500 };
  const config = { ...defaultConfig(), roots, fsync: false, journal };
  const runtime = await openCoder(config, { environment: { CODER_JAIL: backend } });
  const invoke = createInvoke(runtime, createLog({ level: "error", form: "text", write: () => {} }));
  const call = async (name: string, sent: object) => {
    const outcome = JSON.stringify(await invoke(functions.find((one) => one.id === name)!, sent));
    expect(outcome).not.toContain('"error"');
  };
  try {
    const before = snapshotTree(root);
    await call(id, payload);
    const after = snapshotTree(root);
    expect(compareSnapshots(after, before)).not.toEqual([]);
    await call("coder::undo", {});
    expect(compareSnapshots(snapshotTree(root), before)).toEqual([]);
  } finally {
    await runtime.close();
    process.chdir("/");
    for (const folder of [root, state]) rmSync(folder, { recursive: true });
  }
});
