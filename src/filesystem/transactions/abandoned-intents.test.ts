/** Records of transactions that a killed process was writing, with locks, and without them like on Node. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTransactionChild } from "../../../tests/faults/kill-transactions.ts";
import { buildTree } from "../../../tests/harness/tree.ts";
import { temporaryFolder } from "../../../tests/harness/worker-fixture.ts";
import { temporaryName } from "../jail/temporary.ts";
import { openStateFolder } from "../state/state-folder.ts";

test.each([false, true])(
  "a record that a killed process was writing goes, with only what Node has: %p",
  async (asNode) => {
    const root = temporaryFolder();
    const base = join(root, "base");
    buildTree(root, { f: "" });
    writeFileSync(join(root, "config.yaml"), JSON.stringify({ base_path: base, fsync: false }));
    const state = openStateFolder({ dir: join(root, "state/coder"), roots: [{ name: ".", hostPath: base }] });
    const ended = spawnSync("true").pid!;
    const [gone, here] = [ended, process.pid].map((pid) =>
      temporaryName().replace(/-[^-]+-([^-]+-[^-]+)$/, `-${pid.toString(36)}-$1`),
    );
    writeFileSync(state.path("intents", `${"0".repeat(16)}.new-${gone}`), "torn", { mode: 0o600 });
    writeFileSync(state.path("intents", `${"1".repeat(16)}.new-${here}`), "torn", { mode: 0o600 });
    const { calls, log } = await runTransactionChild("start", { root, asNode });
    expect(log).toContain("stopped before it changed anything");
    expect(calls).toBeDefined();
    // Without locks, nothing shows that its process exists.
    expect(readdirSync(join(state.location, "intents")).map((name) => name[0])).toEqual(asNode ? ["1"] : []);
    rmSync(root, { recursive: true });
  },
);
