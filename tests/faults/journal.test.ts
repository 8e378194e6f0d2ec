/** A journal takes back all changes, also those of a worker that was killed in the middle of one. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { randomFrom } from "../harness/random.ts";
import { buildTree, compareSnapshots, snapshotTree } from "../harness/tree.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { openJournaled } from "./journaled.ts";

const tree = { a: "one\n", "d/a": "two\n", "d/b": { link: "a" }, "e/empty/": null };
const random = randomFrom(7);

async function killedAfter(calls: number, env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "journal-child.ts")], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let done = 0;
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    done += (chunk as string).split("\n").length - 1;
    if (done >= calls) child.kill("SIGKILL");
  }
  expect((await exited)[1]).toBe("SIGKILL");
}

/** Matches the log after a kill in the middle of a frame or of an intent record. */
const ofKills = /torn journal|a transaction was stopped before it changed anything/;

test("8 kills, each followed by the undo of everything", async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const root = temporaryFolder();
    const state = temporaryFolder();
    buildTree(root, tree);
    const before = snapshotTree(root);
    const base = join(root, "base");
    await killedAfter(20 + random.below(60), { BASE: base, STATE: state, SEED: String(seed) });
    const { call, runtime, logged } = await openJournaled(base, state);
    await runtime.sweep!();
    const { conflicts } = await call("coder::undo", { steps: 100_000 });
    expect(conflicts).toEqual([]);
    expect(compareSnapshots(snapshotTree(root), before)).toEqual([]);
    expect(logged.filter((line) => !ofKills.test(line))).toEqual([]);
    await runtime.close();
    for (const folder of [root, state]) rmSync(folder, { recursive: true });
  }
});

test("a torn frame is said in the log and costs no other", async () => {
  const root = temporaryFolder();
  const state = temporaryFolder();
  mkdirSync(join(root, "base"));
  const base = join(root, "base");
  const { call, runtime, logged } = await openJournaled(base, state);
  await call("coder::create-file", { files: [{ path: "a", content: "" }] });
  const [location] = readdirSync(state);
  appendFileSync(join(state, location!, "segments", "000000000001", "frames"), "0123456789abcdef 100 0\n{");
  const { undone } = await call("coder::undo", {});
  expect(undone).toEqual([{ seq: 1, restored: [], removed: ["a"], skipped: [] }]);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("torn journal segment=1 ignored_bytes=24");
  await runtime.close();
  for (const folder of [root, state]) rmSync(folder, { recursive: true });
});

test("three workers that write at once lose no checkpoint", async () => {
  const [base, state] = [temporaryFolder(), temporaryFolder()];
  const calls = 150;
  const workers = ["a", "b", "c"].map((NAME) =>
    spawn(process.execPath, [join(import.meta.dirname, "journal-writer.ts")], {
      env: { ...process.env, BASE: base, STATE: state, NAME, CALLS: String(calls) },
      stdio: ["ignore", "ignore", "inherit"],
    }),
  );
  for (const exited of workers.map((worker) => once(worker, "exit"))) expect((await exited)[0]).toBe(0);
  const { call, runtime, logged } = await openJournaled(base, state);
  const { checkpoints } = await call("coder::checkpoints", { limit: 10_000 });
  const found = checkpoints as { seq: number; files: { path: string }[] }[];
  const count = workers.length * calls;
  expect(found.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, index) => count - index));
  for (const name of ["a", "b", "c"]) {
    const paths = found.map(({ files }) => files[0]!.path).filter((path) => path.startsWith(name));
    expect(paths.reverse()).toEqual(Array.from({ length: calls }, (_, number) => `${name}${number}`));
  }
  expect(logged).toEqual([]);
  await runtime.close();
  for (const folder of [base, state]) rmSync(folder, { recursive: true });
});
