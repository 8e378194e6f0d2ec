/** Tests that the journal of the folder has changes by `shell::fs::*`, and that `coder undo` reverts them. */
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCoder } from "../harness/subject.ts";
import { buildTree, compareSnapshots, snapshotTree } from "../harness/tree.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

test("coder undo takes back what shell::fs::* has changed, and again", async () => {
  const root = temporaryFolder();
  const settings = temporaryFolder();
  const base = join(root, "base");
  buildTree(root, { "d/f": "a word\n", "d/e/": null, g: { text: "x", mode: 0o640 }, "d/l": { link: "f" } });
  const before = snapshotTree(root);
  const file = join(settings, "shell.yaml");
  writeFileSync(file, JSON.stringify({ fs: { host_root: base }, journal: {} }));
  const calls: readonly (readonly [string, object])[] = [
    ["mkdir", { path: join(base, "n/m"), parents: true }],
    ["sed", { files: [join(base, "d/f")], pattern: "word", replacement: "deed" }],
    ["chmod", { path: join(base, "d"), mode: "0700", recursive: true }],
    ["mv", { src: join(base, "g"), dst: join(base, "d/f"), overwrite: true }],
    ["rm", { path: join(base, "d"), recursive: true }],
  ];
  for (const [name, payload] of calls) {
    const args = [
      "--worker",
      "shell",
      "call",
      `shell::fs::${name}`,
      JSON.stringify(payload),
      "--config",
      file,
    ];
    expect(await runCoder("source", args)).toMatchObject({ code: 0 });
  }
  const after = snapshotTree(root);
  const coder = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCoder("source", [...args, "--base-path", base]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout);
  };
  const { checkpoints } = await coder("checkpoints");
  expect(checkpoints.map(({ function_id }: { function_id: string }) => function_id)).toEqual(
    calls.map(([name]) => `shell::fs::${name}`).reverse(),
  );
  const undone = await coder("undo", '{"steps":5}');
  expect(undone.conflicts).toEqual([]);
  expect(compareSnapshots(snapshotTree(root), before)).toEqual([]);
  await coder("undo");
  expect(compareSnapshots(snapshotTree(root), after)).toEqual([]);
  expect((await coder("checkpoints", "d/f")).checkpoints).toHaveLength(6);
  for (const folder of [root, settings]) rmSync(folder, { recursive: true });
});

test("a state folder inside the root ends the start", async () => {
  const root = temporaryFolder();
  const settings = temporaryFolder();
  buildTree(root, {});
  for (const [worker, keys] of Object.entries({
    coder: { base_path: join(root, "base") },
    shell: { fs: { host_root: join(root, "base") } },
  })) {
    const file = join(settings, `${worker}.yaml`);
    writeFileSync(file, JSON.stringify({ ...keys, journal: { dir: join(root, "base", "state") } }));
    const id = worker === "coder" ? "coder::tree" : "shell::list";
    const { code, stderr } = await runCoder("source", ["--worker", worker, "call", id, "--config", file]);
    expect(code).toBe(1);
    expect(stderr).toContain("lies in the folder that is served");
  }
  expect(snapshotTree(root).size).toBe(0);
  for (const folder of [root, settings]) rmSync(folder, { recursive: true });
});
