import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A project with a stand-in npm, which notes each of its runs and installs a bun that prints its arguments.
 */
let root: string;
let started: Bun.Subprocess[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "coder-"));
  started = [];
  for (const folder of ["scripts", "tools", ".work"]) mkdirSync(join(root, folder));
  copyFileSync(join(import.meta.dir, "with-bun.mjs"), join(root, "scripts/with-bun.mjs"));
  writeFileSync(join(root, "package-lock.json"), "{}");
  writeFileSync(join(root, "runs"), "");
  writeFileSync(
    join(root, "real-bun"),
    `#!/bin/sh\n[ "$1" = fail ] && exit 7\n[ "$1" = die ] && kill -9 $$\n[ "$1" = stay ] && trap "exit 5" TERM && echo ready && while :; do sleep 0.05; done\necho "$@"\n#${" ".repeat(1e6)}`,
  );
  chmodSync(join(root, "real-bun"), 0o755);
  npm("cp real-bun node_modules/bun/bin/bun.exe");
});

afterEach(() => {
  for (const { pid } of started) endGroup(pid);
  rmSync(root, { recursive: true });
});

/** Ends the processes that a failed test may have left. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Makes the stand-in npm install a bun with `install`, in the root of the project. */
function npm(install: string): void {
  const steps = ['echo "npm $*" >> runs', "rm -rf node_modules", "mkdir -p node_modules/bun/bin", install];
  writeFileSync(join(root, "tools/npm"), `#!/bin/sh\nset -e\n${steps.join("\n")}\n`);
  chmodSync(join(root, "tools/npm"), 0o755);
}

function start(...args: string[]) {
  const PATH = `${join(root, "tools")}:${process.env["PATH"]}`;
  const child = Bun.spawn(["node", join(root, "scripts/with-bun.mjs"), ...args], {
    cwd: tmpdir(),
    env: { ...process.env, PATH },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // in a group of its own, which afterEach ends
  });
  started.push(child);
  return child;
}

async function withBun(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = start(...args);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

const installs = () => readFileSync(join(root, "runs"), "utf8").split("\n").length - 1;

test("the first run installs, the second is quiet, and a changed lock installs again", async () => {
  const first = await withBun("a", "b c");
  expect(first).toMatchObject({ code: 0, stdout: "a b c\n" });
  expect(first.stderr).toContain("npm ci");
  expect(await withBun("again")).toEqual({ code: 0, stdout: "again\n", stderr: "" });
  expect(installs()).toBe(1);
  writeFileSync(join(root, "package-lock.json"), "{ }");
  await withBun();
  expect(installs()).toBe(2);
});

test("of several runs at once one installs", async () => {
  const all = await Promise.all(["1", "2", "3", "4"].map((name) => withBun(name)));
  expect(all.map(({ stdout }) => stdout)).toEqual(["1\n", "2\n", "3\n", "4\n"]);
  expect(installs()).toBe(1);
});

test("the lock of a run that was killed is cleared", async () => {
  const gone = Bun.spawn(["true"]);
  await gone.exited;
  writeFileSync(join(root, ".work/install.lock"), String(gone.pid));
  expect(await withBun("on")).toMatchObject({ code: 0, stdout: "on\n" });
});

test("where install scripts are blocked, bun is put in place", async () => {
  npm("echo placeholder > node_modules/bun/bin/bun.exe; cp installer node_modules/bun/install.js");
  writeFileSync(
    join(root, "installer"),
    'require("node:fs").copyFileSync("real-bun", "node_modules/bun/bin/bun.exe")',
  );
  expect(await withBun("here")).toMatchObject({ code: 0, stdout: "here\n" });
});

test("an install that fails is no install", async () => {
  npm("exit 3");
  expect(await withBun("never")).toMatchObject({ code: 1, stdout: "" });
  npm("cp real-bun node_modules/bun/bin/bun.exe");
  expect(await withBun("now")).toMatchObject({ code: 0, stdout: "now\n" });
});

test("the exit status of bun is passed on, also when a signal ends it", async () => {
  expect(await withBun("fail")).toMatchObject({ code: 7 });
  expect(await withBun("die")).toMatchObject({ code: 137 });
});

test("a signal is passed on to bun", async () => {
  const child = start("stay");
  for await (const _ready of child.stdout) child.kill("SIGTERM");
  expect(await child.exited).toBe(5);
});
