/** Tests that each function that writes names its requester. The types require one. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import type { BusAccess } from "../../calls/contract/bus-access.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { openDisk } from "../../filesystem/disk/disk.ts";
import { DiskTree } from "../../filesystem/operations/disk-tree.ts";
import { defaultShellConfig } from "../config.ts";
import { shellFunctions } from "../functions.ts";
import { openShell } from "../services.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const log = createLog({ level: "error", form: "text", write: () => undefined });
const config = defaultShellConfig();
const runtime = await openShell(
  { ...config, fs: { ...config.fs, host_root: base } },
  { environment: {}, log },
);
const heard: unknown[] = [];
const listener = {
  before: ({ kind, path, requester }: { kind: string; path: string; requester: unknown }) => {
    const { functionId, caller } = requester as { functionId: string; caller: string };
    heard.push([kind, path, functionId, caller]);
  },
};
const disk = openDisk({
  jail: runtime.fs.jail,
  config: { max_write_bytes: 1000, fsync: false },
  listeners: [listener],
});
const services = {
  ...runtime,
  fs: { ...runtime.fs, tree: new DiskTree(disk) },
} as typeof runtime;
const invoke = createInvoke(services, log);
/** A bus without content, since an empty file needs no bytes. */
const bus = { openSource: () => ({}) } as unknown as BusAccess;
const content = { channel_id: "CHANNEL", access_key: "key", direction: "read" };
const at = (path: string) => join(base, path);

afterAll(async () => {
  await runtime.close();
  rmSync(base, { recursive: true });
});

/** A call of each function that changes something, and its changes. */
const calls: Readonly<Record<string, { request: object; changes: readonly string[][] }>> = {
  "shell::fs::mkdir": {
    request: { path: at("a/b"), parents: true },
    changes: [
      ["make-folder", "a"],
      ["make-folder", "a/b"],
    ],
  },
  "shell::fs::write": { request: { path: at("a/f"), content, size: 0 }, changes: [["create", "a/f"]] },
  "shell::fs::chmod": { request: { path: at("a/f"), mode: "0600" }, changes: [["change-mode", "a/f"]] },
  "shell::fs::mv": { request: { src: at("a/f"), dst: at("a/g") }, changes: [["rename", "a/g"]] },
  "shell::fs::sed": {
    request: { files: [at("sedded")], pattern: "x", replacement: "y" },
    changes: [["replace", "sedded"]],
  },
  "shell::fs::rm": {
    request: { path: at("a/b"), recursive: true },
    changes: [
      ["remove", "a/b"],
      ["remove", "a/b"],
    ],
  },
};

test.each(Object.entries(calls))("%s", async (id, { request, changes }) => {
  writeFileSync(at("sedded"), "x");
  const definition = shellFunctions.find((one) => one.id === id)!;
  expect(await invoke(definition, request, { caller: "worker-7", bus })).toHaveProperty("answer");
  expect(heard.splice(0)).toEqual(changes.map(([kind, path]) => [kind, path, id, "worker-7"]));
});

test.each(["agent", "contract"] as const)(
  "in the profile %s an answer says what was not recorded, or stays",
  async (profile) => {
    const state = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
    const served = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
    const journal = { dir: state, max_bytes: 1_000_000, max_records: 9 };
    const shell = await openShell(
      { ...config, profile, journal, fs: { ...config.fs, host_root: served } },
      { environment: {}, log },
    );
    const segments = shell.fs.journal!.state.path("segments");
    writeFileSync(segments, "in the way");
    writeFileSync(join(served, "sedded"), "x");
    for (const [id, { request, changes }] of Object.entries(calls)) {
      const definition = shellFunctions.find((one) => one.id === id)!;
      const payload = JSON.parse(JSON.stringify(request).replaceAll(base, served));
      const outcome = await createInvoke(shell, log)(definition, payload, { bus });
      const { losses, ...answer } = "answer" in outcome ? (outcome.answer as { losses?: number }) : {};
      // The removal of a tree is reported besides its steps.
      const expected = id === "shell::fs::rm" ? 1 : changes.length;
      expect([id, losses]).toEqual([id, profile === "agent" ? expected : undefined]);
      expect(Object.keys(answer)).not.toEqual([]);
    }
    await shell.close();
    for (const folder of [state, served]) rmSync(folder, { recursive: true });
  },
);
