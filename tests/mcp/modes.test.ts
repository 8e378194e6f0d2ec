/** Permissions without `mode`: a replaced file keeps its own, and new entries follow umask and folder. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

/** A group that this process can assign to a folder. */
const group = process.getuid?.() === 0 ? 12_345 : (process.getgroups?.().at(-1) ?? 0);

describe("without `mode`", () => {
  let connected: McpFixture;

  beforeAll(async () => {
    const before = process.umask(0o027);
    connected = await connectStdio("executable", {
      args: ["--tools", "all"],
      fill(base) {
        for (const [name, mode] of [
          ["run.sh", 0o755],
          ["private", 0o600],
        ] as const) {
          writeFileSync(join(base, name), "old\n");
          chmodSync(join(base, name), mode);
        }
        mkdirSync(join(base, "shared"));
        chownSync(join(base, "shared"), process.getuid?.() ?? 0, group);
        chmodSync(join(base, "shared"), 0o2775);
      },
    });
    process.umask(before);
  });

  afterAll(() => connected[Symbol.asyncDispose]());

  const call = async (tool: string, args: Record<string, unknown>) => {
    const result = await connected.call(tool, args);
    expect([tool, result.isError, result.isError && textOf(result)]).toEqual([tool, undefined, undefined]);
  };
  const stat = (path: string) => statSync(join(connected.base, path));
  const modeOf = (path: string) => (stat(path).mode & 0o7777).toString(8);

  test("a file that is overwritten keeps its mode", async () => {
    for (const [path, mode] of [
      ["run.sh", "755"],
      ["private", "600"],
    ] as const) {
      await call("coder_create_file", { path, content: "new\n", overwrite: true });
      expect(modeOf(path)).toBe(mode);
      const change = { op: "create", path, content: "newer\n", overwrite: true };
      await call("coder_transact", { changes: [change] });
      expect(modeOf(path)).toBe(mode);
    }
  });

  test("a new file or folder has what the umask leaves", async () => {
    await call("coder_create_file", { path: "made/a", content: "a\n" });
    await call("coder_make_folder", { paths: ["folder"] });
    await call("coder_transact", {
      changes: [
        { op: "create", path: "in-one/b", content: "b\n" },
        { op: "make-folder", path: "in-one/folder" },
      ],
    });
    await call("coder_apply_patch", {
      patch: "*** Begin Patch\n*** Add File: patched\n+c\n*** End Patch\n",
    });
    expect(["made/a", "in-one/b", "patched"].map(modeOf)).toEqual(["640", "640", "640"]);
    expect(["made", "folder", "in-one", "in-one/folder"].map(modeOf)).toEqual(["750", "750", "750", "750"]);
  });

  test("what is made in a setgid folder has its group, and a folder passes that on", async () => {
    await call("coder_create_file", { path: "shared/one/a", content: "a\n" });
    await call("coder_make_folder", { paths: ["shared/two"] });
    await call("coder_transact", {
      changes: [
        { op: "create", path: "shared/three/b", content: "b\n" },
        { op: "make-folder", path: "shared/four" },
        { op: "create", path: "shared/c", content: "c\n" },
      ],
    });
    const folders = ["shared/one", "shared/two", "shared/three", "shared/four"];
    expect(folders.map(modeOf)).toEqual(["2750", "2750", "2750", "2750"]);
    const all = [...folders, "shared/one/a", "shared/three/b", "shared/c"];
    expect(all.map((path) => [path, stat(path).gid])).toEqual(all.map((path) => [path, group]));
  });

  test("a mode that is sent is exact", async () => {
    await call("coder_create_file", { path: "private", content: "x\n", overwrite: true, mode: "0666" });
    await call("coder_create_file", { path: "all", content: "x\n", mode: "0777" });
    await call("coder_make_folder", { paths: ["open"], mode: "0777" });
    expect(["private", "all", "open"].map(modeOf)).toEqual(["666", "777", "777"]);
  });

  test("the contract profile has the modes of 0.2.0", async () => {
    await using contract = await connectStdio("executable", {
      args: ["--tools", "all"],
      config: { profile: "contract" },
    });
    writeFileSync(join(contract.base, "run.sh"), "old\n");
    chmodSync(join(contract.base, "run.sh"), 0o755);
    const file = { path: "run.sh", content: "new\n", overwrite: true };
    await contract.call("coder_create_file", { files: [file] });
    expect(statSync(join(contract.base, "run.sh")).mode & 0o777).toBe(0o644);
  });
});
