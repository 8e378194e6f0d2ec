/**
 * Tests that a command cannot read secrets of the worker that runs it. A user without the rights of root runs
 * both, because root may read everything.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, constants, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

const nobody = 65534;
const asNobody = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

const root = temporaryFolder();
const program = join(root, "coder");
const served = join(root, "served");
const config = join(root, "shell.yaml");
const confined = join(root, "confined.yaml");

beforeAll(() => {
  chmodSync(root, 0o755);
  copyFileSync(commandOf("executable")[0], program, constants.COPYFILE_FICLONE);
  mkdirSync(served);
  if (asNobody.uid !== undefined) chownSync(served, nobody, nobody);
  const keys = { allowlist: ["sh", "env"], inherit_env: true, fs: { host_root: served } };
  writeFileSync(config, JSON.stringify(keys));
  const fs = { host_root: served, deny_globs: ["**/.env"], write_deny_globs: [] };
  writeFileSync(confined, JSON.stringify({ ...keys, profile: "agent", os_sandbox: "best", fs }));
});
afterAll(() => rmSync(root, { recursive: true }));

const secrets = { MY_SECRET: "hunter2", CODER_TOKEN: "hunter3-hunter3-hunter3", III_OTHER: "hunter4" };

const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, {
    ...asNobody,
    cwd: served,
    env: { PATH: "/usr/bin:/bin", ...secrets },
    encoding: "utf8",
  });

function call(id: string, payload: object, rules = config): Record<string, unknown> {
  const { stdout, stderr } = run(
    program,
    "call",
    id,
    JSON.stringify(payload),
    "--worker",
    "shell",
    "--config",
    rules,
  );
  return { ...JSON.parse(stdout || "{}"), log: stderr };
}

/** Returns a line that prints a file in /proc about its parent process. */
const peek = (name: string) => `cat /proc/$PPID/${name} | tr '\\0' '\\n'; exit 0`;

describe("of the worker's environment a command", () => {
  test("reads nothing in /proc", () => {
    // As a control, runs the same two programs without the worker between them.
    expect(run("sh", "-c", `sh -c "$1"; exit`, "sh", peek("environ")).stdout).toContain("hunter2");
    const { stdout, stderr } = call("shell::exec", {
      command: "sh",
      args: ["-c", `unset MY_SECRET; ${peek("environ")}`],
    });
    expect(stdout).not.toContain("hunter");
    expect(stderr).toContain("Permission denied");
  });

  test("opens neither descriptors nor memory", () => {
    const script = "ls /proc/$PPID/fd && echo fd; : < /proc/$PPID/mem && echo mem; exit 0";
    expect(run("sh", "-c", `sh -c "$1"; exit`, "sh", script).stdout).toContain("fd\n");
    const { stdout } = call("shell::exec", { command: "sh", args: ["-c", script] });
    expect(stdout).toBe("");
  });

  test("inherits no secret of the worker's own", () => {
    const { stdout } = call("shell::exec", { command: "env" });
    expect(stdout).toContain("MY_SECRET=hunter2");
    expect(stdout).not.toMatch(/CODER_TOKEN|III_/);
  });
});

test("the jail works all the same", () => {
  const path = join(served, "a.txt");
  run("sh", "-c", `echo one > ${path}`);
  expect(call("shell::fs::sed", { files: [path], pattern: "one", replacement: "two" })).toMatchObject({
    total_replacements: 1,
  });
  expect(call("shell::fs::mkdir", { path: join(served, "b") })).toMatchObject({ created: true });
  expect(call("shell::fs::ls", { path: served })).toMatchObject({
    entries: [{ name: "a.txt" }, { name: "b" }],
  });
  expect(call("shell::fs::grep", { path: served, pattern: "two" })).toMatchObject({ matches: [{ line: 1 }] });
});

test("a tracked, hidden file is clean for git, which opens it in a fresh checkout", () => {
  const line = [
    "git init -q repository && cd repository && git config user.name a && git config user.email a@b",
    "echo secret > .env && echo one > file && git add -A && git commit -qm first",
  ].join(" && ");
  expect(run("sh", "-c", line).status).toBe(0);
  const script =
    "cat .env; git status --short; echo two >> file; git stash -q && git stash pop -q; git commit -qam second; git log --format=%s; git show --stat --format=";
  const payload = { command: "sh", args: ["-c", script], cwd: join(served, "repository") };
  const { stdout, stderr, log } = call("shell::exec", payload, confined);
  expect(stdout).not.toContain("secret");
  if (!String(log).includes('"mounts":true')) return;
  expect([String(stdout).trim(), stderr]).toEqual([
    "second\nfirst\n file | 1 +\n 1 file changed, 1 insertion(+)",
    "",
  ]);
});
