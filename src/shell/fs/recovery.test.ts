/**
 * Tests that a shell worker finishes, before it serves, the transactions that a killed coder worker has left
 * in its folder.
 */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryName } from "../../filesystem/jail/temporary.ts";
import {
  everyKind,
  sampleTree,
  TransactionsFixture,
} from "../../filesystem/transactions/transactions.test-kit.ts";
import { defaultShellConfig, type ShellConfig } from "../config.ts";
import { openShell } from "../services.ts";

const open = ({ base, log }: TransactionsFixture, changes: Partial<ShellConfig>, environment = {}) => {
  const config = defaultShellConfig();
  const fs = { ...config.fs, host_root: base };
  return openShell({ ...config, fs, ...changes }, { environment, log });
};

test("temporary files of killed processes are swept where one folder is served, and may be changed", async () => {
  using fixture = new TransactionsFixture("descriptors", {});
  // The name that an earlier process with our process id would have used.
  const left = join(fixture.base, temporaryName().replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1"));
  const inUse = join(fixture.base, temporaryName());
  for (const path of [left, inUse]) writeFileSync(path, "text\n");
  const config = defaultShellConfig();
  const fs = { ...config.fs, host_root: fixture.base };
  for (const [changes, options] of [
    [{ fs }, { readOnly: true }],
    [{}, {}],
  ] as const) {
    const runtime = await openShell(
      { ...config, ...changes },
      { environment: {}, log: fixture.log, ...options },
    );
    expect(runtime.sweep).toBeUndefined();
    await runtime.close();
  }
  const runtime = await open(fixture, {});
  expect(await runtime.sweep!()).toBe(1);
  await runtime.close();
  expect([existsSync(left), existsSync(inUse)]).toEqual([false, true]);
});

const bounds = { max_bytes: 4096, max_records: 1 };

test("by the state folder of the key journal", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const before = fixture.snapshot();
  await fixture.crashAfter(everyKind(fixture), 9);
  expect(fixture.snapshot()).not.toEqual(before);
  const shell = await open(fixture, { journal: { dir: join(fixture.root, "state"), ...bounds } });
  expect(fixture.snapshot()).toEqual(before);
  expect([fixture.records(), fixture.lines.join("\n")]).toEqual([[], expect.stringMatching(/is taken back/)]);
  await shell.close();
});

test("except where its configuration denies a path of it", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const before = fixture.snapshot();
  await fixture.crashAfter(everyKind(fixture), 9);
  const half = fixture.snapshot();
  const journal = { dir: join(fixture.root, "state"), ...bounds };
  const fs = { ...defaultShellConfig().fs, host_root: fixture.base, denylist_paths: [fixture.at("gone")] };
  const shell = await open(fixture, { journal, fs });
  expect(fixture.snapshot()).toEqual(half);
  expect([fixture.records(), fixture.lines.join("\n")]).toEqual([
    [".json"],
    expect.stringMatching(/that the configuration denies or protects/),
  ]);
  await shell.close();
  await fixture.recover();
  expect(fixture.snapshot()).toEqual(before);
});

test("by that of the user without the key, and not when it only reads", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  const before = fixture.snapshot();
  await fixture.crashAfter(everyKind(fixture), 9);
  const half = fixture.snapshot();
  mkdirSync(join(fixture.root, "xdg"));
  renameSync(join(fixture.root, "state"), join(fixture.root, "xdg/coder"));
  const environment = { XDG_STATE_HOME: join(fixture.root, "xdg") };
  const config = { ...defaultShellConfig(), fs: { ...defaultShellConfig().fs, host_root: fixture.base } };
  const reading = await openShell(config, { environment, log: fixture.log, readOnly: true });
  expect(fixture.snapshot()).toEqual(half);
  await reading.close();
  const shell = await open(fixture, {}, environment);
  expect(fixture.snapshot()).toEqual(before);
  await shell.close();
});
