/** The output of the shell worker before it serves, and its command line. */
import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestEngine } from "../harness/engines/started.ts";
import { commandOf, repository, runCoder, startCoder, subjects } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { readPid, waitForExit } from "./alive.ts";
import golden from "./shell-0.3.5.golden.json" with { type: "json" };
import { startShell } from "./shell-fixture.ts";

const here = temporaryFolder();
mkdirSync(join(here, "served"));
writeFileSync(join(here, "served/a.txt"), "a\n");
afterAll(() => rmSync(here, { recursive: true }));

const example = join(repository, "config.shell.example.yaml");

let files = 0;
function fileOf(config: object | string): string {
  const file = join(here, `${files++}.yaml`);
  writeFileSync(file, typeof config === "string" ? config : JSON.stringify(config));
  return file;
}

const jailed = { fs: { host_root: join(here, "served") } };

describe.each(subjects)("%s", (subject) => {
  const call = (config: object | string, id: string, payload: object = {}) =>
    runCoder(
      subject,
      [
        "call",
        id,
        JSON.stringify(payload),
        "--worker",
        "shell",
        "--config",
        fileOf(config),
        "--log-level",
        "warn",
      ],
      { cwd: here },
    );

  test.each([
    ["no folder and no word that there is none", {}, ["fs.host_root", "fs.allow_unjailed"]],
    [
      "a folder that is missing",
      { fs: { host_root: "/missing/folder" } },
      ["fs.host_root", "/missing/folder"],
    ],
    ["an unknown key", { ...jailed, allow_list: ["ls"] }, ["allow_list", "allowlist"]],
    ["an unknown key in a group", { fs: { hostroot: "/" } }, ["fs.hostroot", "host_root"]],
    ["a wrong type", { ...jailed, max_timeout_ms: "10" }, ["max_timeout_ms", "whole number"]],
    [
      "a pattern that does not compile",
      { ...jailed, denylist_patterns: ["a", "("] },
      ["denylist_patterns", "("],
    ],
    ["a relative denylist", { fs: { ...jailed.fs, denylist_paths: ["etc"] } }, ["fs.denylist_paths", "etc"]],
    ["what is not YAML", "fs: [", ["YAML"]],
  ] as const)("does not start with %s", async (_, config, words) => {
    const { code, stdout, stderr } = await call(config, "shell::list");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    for (const word of words) expect(stderr).toContain(word);
  });

  test.each([
    ["an empty allowlist", { ...jailed, allowlist: [] }, "every program may run"],
    ["no jail", { fs: { allow_unjailed: true } }, "no jail"],
    ["a folder that everybody shares", { fs: { host_root: "/tmp" } }, "shared folder"],
    ["a default over the most", { ...jailed, max_timeout_ms: 5 }, "default_timeout_ms"],
    ["no time", { ...jailed, max_timeout_ms: 0 }, "max_timeout_ms is 0"],
    ["no output", { ...jailed, max_output_bytes: 0 }, "max_output_bytes is 0"],
  ] as const)("starts with %s, and says what that means", async (_, config, words) => {
    const { code, stderr } = await call(config, "shell::list");
    expect(code).toBe(0);
    expect(stderr).toContain(words);
  });

  test("a call in this process", async () => {
    const { code, stdout, stderr } = await call(
      { ...jailed, working_dir: join(here, "served") },
      "shell::exec",
      { command: "ls" },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 0, stdout: "a.txt\n" });
  });

  test("a call in this process that is refused", async () => {
    const { code, stdout, stderr } = await call(jailed, "exec", { command: "nmap" });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toStartWith("command 'nmap' not in allowlist");
  });

  test("a call through an engine that is refused", async () => {
    const served = await startShell(subject);
    try {
      const args = ["call", "shell::exec", '{"command":"nmap"}', "--url", served.engine.url];
      const { code, stdout, stderr } = await runCoder(subject, args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toStartWith("command 'nmap' not in allowlist");
    } finally {
      await served.stop();
    }
  });

  test("there is no way to a sandbox without a bus, and the error says so", async () => {
    const target = { kind: "sandbox", sandbox_id: "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9" };
    for (const id of ["shell::exec", "shell::exec_bg"]) {
      const { code, stderr } = await call(jailed, id, { command: "ls", target });
      expect(code).toBe(1);
      expect(stderr).toMatch(/^\{"code":"S216".*bus/);
    }
  });

  test("--base-path is the folder to serve, and the one that commands start in", async () => {
    const args = ["call", "shell::exec", '{"command":"pwd"}', "--base-path", join(here, "served")];
    const { code, stdout } = await runCoder(subject, args, { cwd: here });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ stdout: `${realpathSync(join(here, "served"))}\n` });
  });

  test("the profile agent hides secrets from commands and functions, unless the configuration lists others", async () => {
    const folder = join(here, `secret-${subject}`);
    mkdirSync(folder);
    writeFileSync(join(folder, ".env"), "TOKEN=secret\n");
    const config = { profile: "agent", fs: { host_root: folder }, allowlist: ["cat"] };
    const cat = { command: "cat", args: [".env"] };
    const hidden = await call(config, "shell::exec", cat);
    // Without mounts, the command cannot open the file. With mounts, it finds an empty one.
    expect(JSON.parse(hidden.stdout).stdout.trim()).toBe("");
    expect(await call(config, "shell::fs::stat", { path: ".env" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("S215"),
    });
    const open = await call({ ...config, fs: { ...config.fs, deny_globs: [] } }, "shell::exec", cat);
    expect(JSON.parse(open.stdout)).toMatchObject({ stdout: "TOKEN=secret\n" });
  });

  test("the committed example starts, and ends without a warning", async () => {
    const args = ["--worker", "shell", "--config", example, "--engine", "embedded:0"];
    const worker = startCoder(subject, args, { cwd: join(here, "served") });
    await worker.waitForStderr(/"serving"/);
    worker.child.kill("SIGTERM");
    expect(await worker.exited).toBe(0);
    const warnings = worker
      .stderr()
      .split("\n")
      .filter((line) => /"level":"(?:warn|error)"/.test(line));
    expect(warnings.map((line) => JSON.parse(line).message)).toEqual(["commands are not confined"]);
  });

  test("a bare entry of an iii project serves the project, without its configuration and with commands confined", async () => {
    const project = join(here, `project-${subject}`);
    mkdirSync(project);
    writeFileSync(join(project, "config.yaml"), "workers:\n  - name: shell\n");
    for (const name of [".env", "a.txt", "iii.lock"]) writeFileSync(join(project, name), "text\n");
    const engine = await startTestEngine(subject);
    const env = { III_WORKER_NAME: "shell" };
    const worker = startCoder(subject, ["--worker", "shell", "--url", engine.url], { cwd: project, env });
    try {
      await engine.waitForFunction("shell::list");
      const stat = (name: string) =>
        engine.call("shell::fs::stat", { path: join(realpathSync(project), name) });
      expect(await stat("a.txt")).toMatchObject({ name: "a.txt" });
      for (const name of ["config.yaml", ".env", "iii.lock"])
        await expect(stat(name)).rejects.toThrow(/S215/);
      await expect(engine.call("shell::fs::stat", { path: "/etc/hostname" })).rejects.toThrow(/S215/);
      expect(await engine.call("shell::exec", { command: "pwd" })).toMatchObject({
        stdout: `${realpathSync(project)}\n`,
      });
      await expect(engine.call("shell::exec", { command: "touch made" })).rejects.toThrow(/allowlist/);
      expect(worker.stderr()).toMatch(/"level":"warn","message":"no configuration".*docs\/install\.md/);
      expect(worker.stderr()).toMatch(/"message":"os sandbox".*"network":"none"/);
    } finally {
      worker.child.kill("SIGTERM");
      await worker.exited;
      await engine.stop();
    }
  });

  test("it warns that commands are not confined, and SIGHUP ends it like SIGTERM", async () => {
    const served = await startShell(subject);
    expect(served.worker.stderr().split("commands are not confined")).toHaveLength(2);
    served.worker.child.kill("SIGHUP");
    expect(await served.worker.exited).toBe(0);
    expect(served.worker.stderr()).toContain('"message":"stopping","signal":"SIGHUP"');
    await served.stop();
  });

  test("--manifest names the functions", async () => {
    const { code, stdout } = await runCoder(subject, ["--worker", "shell", "--manifest"]);
    expect(code).toBe(0);
    const { name, functions } = JSON.parse(stdout) as { name: string; functions: { id: string }[] };
    expect(name).toBe("iii-shell");
    expect(functions.map(({ id }) => id).sort()).toEqual(golden.functions.map(({ name }) => name).sort());
  });

  test("--help is that of the shell", async () => {
    const { stdout } = await runCoder(subject, ["--worker", "shell", "--help"]);
    expect(stdout).toContain("shell::exec");
    expect(stdout).toContain("fs.host_root");
  });

  test("a worker that there is not is misuse", async () => {
    const { code, stderr } = await runCoder(subject, ["--worker", "shelf"]);
    expect(code).toBe(2);
    expect(stderr).toContain("coder, shell");
  });

  test("with --read-only no command can be run", async () => {
    const args = ["call", "exec", "{}", "--worker", "shell", "--read-only", "--config", fileOf(jailed)];
    const { code, stderr } = await runCoder(subject, args);
    expect(code).toBe(2);
    expect(stderr).toContain(
      "shell::exec can change something, and --read-only offers only functions that cannot",
    );
    expect(stderr).not.toContain("shell::kill");
  });

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends a call with what it runs", async (signal) => {
    const config = fileOf({ ...jailed, allowlist: ["sh"] });
    const command = { command: "sh", args: ["-c", `echo $$ > ${here}/${signal}; sleep 1000`] };
    const args = ["call", "exec", JSON.stringify(command), "--worker", "shell", "--config", config];
    const running = startCoder(subject, args);
    const pid = await readPid(join(here, signal));
    running.child.kill(signal);
    await running.exited;
    await waitForExit(pid);
  });
});

test("the executable is the worker that it is called as", () => {
  const [executable] = commandOf("executable");
  const link = join(here, "shell");
  symlinkSync(executable, link);
  expect(spawnSync(link, ["--version"], { encoding: "utf8" }).stdout).toMatch(/^shell \d/);
  expect(spawnSync(executable, ["--version"], { encoding: "utf8" }).stdout).toMatch(/^coder \d/);
});
