/**
 * Files that other programs act on by themselves, in a folder that commands may write. Each attempt has a
 * control, which changes the file.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { answerOf } from "../case.ts";
import { type ShellFixture, startShell } from "../shell-fixture.ts";

const config = {
  allowlist: ["bash"],
  allowed_env: ["PATH"],
  denylist_patterns: [],
  default_timeout_ms: 20_000,
  max_timeout_ms: 20_000,
  profile: "agent",
  fs: { host_root: "<folder>", deny_globs: ["**/.env"], write_allow_globs: ["open"] },
};

const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
    encoding: "utf8",
  });

const files = {
  ".npmrc": "kept",
  ".vscode/tasks.json": "kept",
  ".husky/pre-commit": "kept",
  "sub/.claude/hooks/.env": "kept",
  "tools/hooks/pre-commit": "kept",
  "node_modules/a/.npmrc": "text",
  "open/.envrc": "text",
  file: "text",
};

/** Fills the folder again, so that attempts do not affect each other. */
function refill(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `${text}\n`);
  }
  git(folder, "init", "-q");
  for (const [name, value] of [
    ["core.hooksPath", "tools/hooks"],
    ["user.name", "a"],
    ["user.email", "a@b"],
  ] as const)
    git(folder, "config", name, value);
  git(folder, "add", "file");
  git(folder, "commit", "-qm", "first", "--no-verify");
  writeFileSync(join(folder, ".git/hooks/pre-commit"), "kept\n");
}

/** Lines of bash, each of which writes "planted" into one of the files. */
const attempts: Readonly<Record<string, string>> = {
  "write a file": "echo planted > .npmrc",
  "append to a file": "echo planted >> .vscode/tasks.json",
  "replace a file": "echo planted > new && mv -f new .npmrc",
  "remove a file and make it again": "rm -f .npmrc; echo planted > .npmrc",
  "rename its folder away": "mv .vscode other && mkdir .vscode && echo planted > .vscode/tasks.json",
  "link another file over it": "echo planted > new; ln -f new .npmrc",
  "add to a kept folder": "echo planted > .husky/post-merge",
  "change a file deeper in": "echo planted > sub/.claude/hooks/run",
  "rename the folder above": "mv sub other; mkdir -p sub/.claude/hooks; echo planted > sub/.claude/hooks/run",
  "write a hook": "echo planted > .git/hooks/post-checkout",
  "change a hook": "echo planted >> .git/hooks/pre-commit",
  "move hooks away": "mv .git/hooks .git/other && mkdir .git/hooks && echo planted > .git/hooks/pre-commit",
  "move the repository away": "mv .git other && cp -r other .git && echo planted > .git/hooks/pre-commit",
  "change its configuration": "git config alias.x '!planted'",
  "write its configuration": "echo planted >> .git/config",
  "write a hook where the configuration has them": "echo planted > tools/hooks/pre-commit",
  unmount: "umount -l .npmrc; echo planted > .npmrc",
  "unmount in a namespace":
    "unshare --user --map-root-user --mount bash -c 'umount .npmrc; echo planted > .npmrc'; echo planted >> .npmrc",
  "mount again": "mount -o remount,rw,bind .npmrc; echo planted > .npmrc",
  "change its mode": "chmod u+w .npmrc; echo planted > .npmrc",
};

let free: ShellFixture;
let confined: ShellFixture;
beforeAll(async () => {
  free = await startShell("executable", { ...config, os_sandbox: "off" });
  confined = await startShell("executable", { ...config, os_sandbox: "required" });
});
afterAll(async () => {
  await free?.stop();
  await confined?.stop();
});

const hasMounts = () => confined.worker.stderr().includes('"mounts":true');

async function run(served: ShellFixture, line: string): Promise<Record<string, unknown>> {
  return answerOf(
    await served.call("shell::exec", { command: "bash", args: ["-c", line], cwd: served.folder }),
  );
}

const watched = [".npmrc", ".vscode", ".husky", "sub", ".git/hooks", ".git/config", "tools/hooks"];

/** Returns the watched entries that contain the text of an attempt. */
const changedIn = (folder: string) =>
  watched.filter((name) => {
    try {
      return execFileSync("grep", ["-rlsF", "planted", join(folder, name)], { encoding: "utf8" }) !== "";
    } catch {
      return false;
    }
  });

describe("a command cannot", () => {
  test.each(Object.entries(attempts))("%s", async (_, line) => {
    const isChanged = [];
    for (const served of [free, confined]) {
      refill(served.folder);
      await run(served, line);
      isChanged.push(changedIn(served.folder).length > 0);
    }
    expect(isChanged).toEqual([true, !hasMounts()]);
  });
});

test("a command works beside them: it commits, switches, stashes and fills folders that are open", async () => {
  const lines = [
    "echo two >> file && git commit -qam second --no-verify && git log --oneline | wc -l",
    "git switch -qc other && echo three >> file && git stash -q && git switch -q - && git stash pop -q && git gc -q",
    "rm -r node_modules && mkdir -p node_modules/b && echo x > node_modules/b/.npmrc",
    "echo x > open/.envrc && mv open opened && mkdir open && echo x > sub/new && mv file sub/file",
  ];
  refill(confined.folder);
  for (const line of lines) expect(await run(confined, line)).toMatchObject({ exit_code: 0 });
  expect(git(confined.folder, "fsck", "--no-dangling").trim()).toBe("");
});

test("what is denied in a folder that is kept is hidden all the same", async () => {
  refill(confined.folder);
  const line = "cat sub/.claude/hooks/.env 2> /dev/null; ls -A sub/.claude/hooks";
  expect(String((await run(confined, line))["stdout"]).trim()).toBe(".env");
});

test("a refusal is explained, and what could not be prevented is said", async () => {
  refill(confined.folder);
  const notesOf = async (line: string) => (await run(confined, line))["notes"];
  if (hasMounts())
    expect(await notesOf("git remote add origin https://example.org/x")).toEqual([
      expect.stringMatching(/^\.git\/config is read-only for commands/),
    ]);
  expect(await notesOf("echo x > .envrc; git init -q nested; mkdir more; echo x > more/.npmrc")).toEqual([
    "made .envrc, more/.npmrc, nested/.git/config, nested/.git/hooks, which other programs act on by themselves: tell the user",
  ]);
  expect(await notesOf("echo x > plain")).toBeUndefined();
  if (!hasMounts()) return;
  expect(await notesOf("git init -q more/project; rm -rf sub")).toContainEqual(
    expect.stringMatching(
      /^sub\/\.claude\/hooks .* shell::fs::rm with `recursive` removes "sub" as a whole$/,
    ),
  );
  expect(await notesOf("mv sub other")).toEqual([
    expect.stringMatching(/^sub\/\.claude\/hooks .* cannot be moved; shell::fs::rm .* "sub" as a whole$/),
  ]);
});
