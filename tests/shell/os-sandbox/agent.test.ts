/** Commands in the profile `agent`, whose defaults confine them, compared with those in the contract. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../harness/worker-fixture.ts";
import { answerOf, expectPlain } from "../case.ts";
import { type ShellFixture, startShell } from "../shell-fixture.ts";

const config = {
  allowlist: ["bash", "cat"],
  allowed_env: ["PATH", "HOME", "LANG", "LC_ALL", "TERM"],
  denylist_patterns: [],
  default_timeout_ms: 20_000,
  max_timeout_ms: 20_000,
  fs: { host_root: "<folder>", denylist_paths: ["<folder>/.env"] },
};

/** The home of the workers' user: a start-up file, an identity for git, and settings that run a program. */
const home = temporaryFolder();
const gitConfig = `[user]
  name = Some One
  email = one@example.org
[alias]
  run = !echo alias
[core]
  hooksPath = ${home}
`;

let contract: ShellFixture;
let agent: ShellFixture;
beforeAll(async () => {
  writeFileSync(join(home, ".bashrc"), "echo started\n");
  writeFileSync(join(home, ".gitconfig"), gitConfig);
  mkdirSync(join(home, ".rustup"));
  const env = { HOME: home, XDG_CONFIG_HOME: home, CC: "their-compiler", LC_TIME: "C.UTF-8", TZ: "UTC" };
  contract = await startShell("executable", config, { env });
  agent = await startShell("executable", { ...config, profile: "agent", os_sandbox: "required" }, { env });
});
afterAll(async () => {
  await contract?.stop();
  await agent?.stop();
  rmSync(home, { recursive: true });
});

async function run(served: ShellFixture, line: string, more: object = {}): Promise<Record<string, unknown>> {
  const payload = { command: "bash", args: ["-c", line], cwd: served.folder, ...more };
  return answerOf(await served.call("shell::exec", payload));
}

describe("the environment", () => {
  test("HOME is a folder of the commands, writable and empty but for git's settings, and the user's own under the contract", async () => {
    expect((await run(contract, "echo $HOME"))["stdout"]).toBe(`${home}\n`);
    const line = "[ $HOME != $PWD ] && ls -A ~ && echo x > ~/file && cat ~/file && rm ~/file && echo $HOME";
    const { stdout } = await run(agent, line);
    expect(stdout).toStartWith(".gitconfig\nx\n/");
    expect(stdout).not.toContain(home);
  });

  test("toolchains of the user are found without HOME", async () => {
    expect((await run(agent, "echo $RUSTUP_HOME"))["stdout"]).toBe(`${join(home, ".rustup")}\n`);
    expect((await run(agent, 'touch "$RUSTUP_HOME/x"'))["exit_code"]).not.toBe(0);
  });

  test("no start-up file of the user is read, whatever the standard input is", async () => {
    for (const more of [{}, { stdin: "" }, { stdin: "text" }])
      for (const served of [contract, agent])
        expect(await run(served, "true", more)).toMatchObject({ stdout: "", stderr: "", exit_code: 0 });
  });

  test("commands get the listed variables of the worker, and no others", async () => {
    const { stdout } = await run(agent, "compgen -e");
    const names = String(stdout).trim().split("\n");
    expect(names).toEqual(expect.arrayContaining(["HOME", "LC_TIME", "PATH", "TMPDIR", "TZ"]));
    expect(names.filter((name) => ["CC", "XDG_CONFIG_HOME", "USER", "III_URL"].includes(name))).toEqual([]);
  });

  test("callers set what is listed, and under the contract all that runs no code", async () => {
    for (const served of [contract, agent])
      expect(await run(served, "echo $NAME $CI", { env: { NAME: "world", CI: "1" } })).toMatchObject({
        stdout: "world 1\n",
      });
    const payload = { command: "cat", env: { COMPILER_PATH: "x" } };
    expect(await contract.call("shell::exec", payload)).toHaveProperty("answer");
    expectPlain(
      await agent.call("shell::exec", payload),
      "env holds 'COMPILER_PATH', and callers may set these variables only:",
      "NAME",
      "allowed_env",
    );
  });
});

describe("a repository with a tracked, denied file", () => {
  const git = (served: ShellFixture, ...args: string[]) =>
    execFileSync("git", ["-C", served.folder, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      encoding: "utf8",
    });

  function commitAll(served: ShellFixture): void {
    rmSync(join(served.folder, ".git"), { recursive: true, force: true });
    writeFileSync(join(served.folder, ".env"), "secret\n", { mode: 0o644 });
    writeFileSync(join(served.folder, "file"), "one\n");
    git(served, "init", "-q");
    git(served, "add", ".env", "file");
    git(served, "commit", "-qm", "first");
  }

  /**
   * Modification times of the denied file. After a commit of an old file, git compares only the times. In a
   * fresh clone, it reads the file.
   */
  const ages = {
    "older than the index": 1_700_000_000,
    "as old as the index": undefined,
    "newer than the index": 2_000_000_000,
  };

  function commitAged(served: ShellFixture, seconds: number | undefined): void {
    commitAll(served);
    if (seconds !== undefined) utimesSync(join(served.folder, ".env"), seconds, seconds);
    // Updates the index, which then has the old time.
    if (seconds === ages["older than the index"]) git(served, "status");
  }

  const hasMounts = () => agent.worker.stderr().includes('"mounts":true');

  test("the file is regular and has no rights, and its content is not there", async () => {
    commitAll(agent);
    commitAll(contract);
    expect((await run(contract, "cat .env"))["stdout"]).toBe("secret\n");
    const { stdout } = await run(agent, "stat -c '%F %a %s' .env; cat .env");
    if (hasMounts()) expect(String(stdout).trim()).toBe("regular file 0 7");
    expect(stdout).not.toContain("secret");
  });

  test.each(Object.entries(ages))(
    "git status is clean and git commit -a records another file as the user, if it is %s",
    async (_, seconds) => {
      commitAged(agent, seconds);
      const line =
        "git status --porcelain && echo two >> file && git status --porcelain && git diff --stat && git add -A && git commit -qam second && git status --porcelain";
      const answer = await run(agent, line);
      if (!hasMounts()) return expect(answer["stdout"]).not.toContain("secret");
      expect(answer).toMatchObject({
        stdout: " M file\n file | 1 +\n 1 file changed, 1 insertion(+)\n",
        stderr: "",
        exit_code: 0,
      });
      expect(git(agent, "show", "HEAD:.env")).toBe("secret\n");
      expect(git(agent, "log", "-1", "--format=%an %ae %s")).toBe("Some One one@example.org second\n");
      expect(git(agent, "status", "--porcelain")).toBe("");
    },
  );

  test("the identity of the repository precedes that of the user", async () => {
    commitAll(agent);
    git(agent, "config", "user.name", "Another One");
    const line = "echo two >> file && git commit -qam second && git log -1 --format='%an %ae'";
    expect(await run(agent, line)).toMatchObject({ stdout: "Another One one@example.org\n", exit_code: 0 });
  });

  test("no editor is run, whatever the repository names: git keeps a message, and refuses an empty one", async () => {
    commitAll(agent);
    for (const key of ["core.editor", "sequence.editor"]) git(agent, "config", key, "echo other >");
    const amended = "echo two >> file && git commit -q --amend -a && git log --format=%s";
    expect(await run(agent, amended)).toMatchObject({ stdout: "first\n", exit_code: 0 });
    const empty = await run(agent, "echo three >> file && git commit -a");
    expect(empty["exit_code"]).toBe(1);
    expect(empty["stderr"]).toContain("empty commit message");
    const rebased = "git commit -qam second && git rebase -q -i HEAD~1 && git log -1 --format=%s";
    expect(await run(agent, rebased)).toMatchObject({ stdout: "second\n", exit_code: 0 });
    // The contract's commands have the editor of the repository.
    commitAll(contract);
    git(contract, "config", "core.editor", "echo other >");
    expect((await run(contract, amended))["stdout"]).toBe("other\n");
  });

  test("a change of the file itself is seen, and nothing is recorded of it", async () => {
    commitAll(agent);
    writeFileSync(join(agent.folder, ".env"), "another secret\n");
    const answer = await run(agent, "git status --porcelain; git diff; git commit -qam second");
    if (hasMounts()) expect(answer["stdout"]).toStartWith(" M .env\n");
    expect(answer["exit_code"]).not.toBe(0);
    expect(git(agent, "show", "HEAD:.env")).toBe("secret\n");
    await run(agent, "git add -A; git add --force .env; git commit -qm second");
    expect(git(agent, "show", "HEAD:.env")).toBe("secret\n");
  });

  test("a denied file that is not tracked is ignored, and cannot be added", async () => {
    commitAll(agent);
    git(agent, "rm", "-q", "--cached", ".env");
    git(agent, "commit", "-qm", "second");
    const answer = await run(agent, "git status --porcelain && git add -A && git status --porcelain");
    expect(answer).toMatchObject({ stdout: "", exit_code: 0 });
    const added = await run(agent, "git add --force .env");
    expect(added["exit_code"]).not.toBe(0);
    expect(git(agent, "ls-files")).toBe("file\n");
  });

  test("settings of the user that run programs are not read", async () => {
    expect((await run(contract, "git run"))["stdout"]).toBe("alias\n");
    expect((await run(agent, "git run"))["exit_code"]).not.toBe(0);
    expect((await run(agent, "git config core.hooksPath"))["stdout"]).toBe("");
  });
});

test("an answer says what was changed, and which rule was met", async () => {
  const answer = await run(agent, "echo x > made; echo x > /etc/made-by-a-command");
  expect(answer).toMatchObject({
    changed: "1 file (made)",
    notes: ["commands write below the served folder and $TMPDIR only"],
  });
  expect(await run(agent, "true")).not.toHaveProperty("changed");
  expect(await run(contract, "echo x > made")).not.toHaveProperty("changed");
});

test("a server that one command starts is reached by another, by default", async () => {
  const hasNetwork = agent.worker.stderr().includes('"network":"loopback"');
  mkdirSync(join(agent.folder, "site"), { recursive: true });
  const program = join(import.meta.dir, "attempts.ts");
  const path = join(agent.folder, "site/port");
  const serve = `${process.execPath} ${program} serve 127.0.0.1 ${path} || touch ${path}`;
  const { job_id } = answerOf(await agent.call("shell::exec_bg", { command: "bash", args: ["-c", serve] }));
  const line = `until [ -e ${path} ]; do sleep 0.01; done; exec 3<> /dev/tcp/127.0.0.1/$(cat ${path}) && cat <&3`;
  expect((await run(agent, line))["stdout"]).toBe(hasNetwork ? "hello" : "");
  await agent.call("shell::kill", { job_id });
});
