/** The influence of the folder that a worker is started in, its limits, and the log about it. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEngine } from "../../src/embedded-engine/engine.ts";
import { defaultSubjects, runCoder, startCoder } from "../harness/subject.ts";
import { expectRefusal, projectOf, removeProjects, serveArgs, serving } from "./projects.ts";

afterAll(removeProjects);

describe.each(defaultSubjects)("%s", (subject) => {
  describe("what an attacker wrote into ./config.yaml", () => {
    const wide = "base_path: /\nnon_accessible_globs: []\n";
    const call = (cwd: string, id: string, ...rest: string[]) =>
      runCoder(subject, ["call", id, ...rest], { cwd });

    test("a) does not widen a call or MCP to the whole machine", async () => {
      const cwd = projectOf({ "config.yaml": wide });
      expect((await call(cwd, "coder::read-file", '{"path":"etc/passwd"}')).stderr).toContain("C211");
      expect((await runCoder(subject, ["mcp", "--base-path", "."], { cwd })).stderr).toContain(
        `"base_path":"${cwd}","config":"defaults"`,
      );
    });

    test("b) does not lift the deny globs of a base elsewhere", async () => {
      const cwd = projectOf({ "config.yaml": wide });
      const other = projectOf({});
      const { stdout, stderr } = await call(cwd, "coder::read-file", '{"path":".env"}', "--base-path", other);
      expect(stdout).toBe("");
      expect(stderr).toContain("C211");
    });

    test("c) does not let the shell run any program", async () => {
      const text = "allowlist: []\ndenylist_patterns: []\nfs: {host_root: null, allow_unjailed: true}\n";
      const cwd = projectOf({ "config.yaml": text });
      const payload = '{"command":"bash","args":["-c","id"]}';
      const { stdout, stderr } = await call(
        cwd,
        "shell::exec",
        payload,
        "--worker",
        "shell",
        "--base-path",
        "a",
      );
      expect(stdout).toBe("");
      expect(stderr).toContain("command 'bash' not in allowlist");
    });

    test("d) and e) are tables above: the engine's file and an application's keep nothing from starting", async () => {
      const cwd = projectOf({ "config.yaml": "workers:\n  - name: coder\n" });
      expect(await serving(subject, [], { cwd })).toMatchObject({ base_path: cwd, config: "defaults" });
      const args = ["mcp", "--base-path", "a"];
      expect((await runCoder(subject, args, { cwd })).stderr).toContain(`"base_path":"${cwd}/a"`);
    });
  });

  describe("no call changes what the next start would read", () => {
    const call = (cwd: string, id: string, payload: object, env: Record<string, string> = {}) => {
      const flags = id.startsWith("shell") ? ["--worker", "shell"] : [];
      const args = ["call", id, JSON.stringify(payload), ...flags, "--base-path", "."];
      return runCoder(subject, args, { cwd, env });
    };
    const file = (path: string) => ({ files: [{ path, content: "base_path: /\n", overwrite: true }] });

    test("./config.yaml, there or not", async () => {
      const cwd = projectOf({});
      for (const path of ["config.yaml", "a/../config.yaml", "./config.yaml"])
        expect((await call(cwd, "coder::create-file", file(path))).stdout).toContain("C211");
      const made = await call(cwd, "shell::fs::mkdir", { path: join(cwd, "config.yaml") });
      expect(made.stderr).toContain("S215");
      expect(existsSync(join(cwd, "config.yaml"))).toBe(false);
      writeFileSync(join(cwd, "config.yaml"), "server: {port: 80}\n");
      expect((await call(cwd, "coder::create-file", file("config.yaml"))).stdout).toContain("C211");
      expect((await call(cwd, "coder::delete-file", { paths: ["config.yaml"] })).stdout).toContain("C211");
      expect((await call(cwd, "shell::fs::rm", { path: join(cwd, "config.yaml") })).stderr).toContain("S215");
      expect(readFileSync(join(cwd, "config.yaml"), "utf8")).toBe("server: {port: 80}\n");
      expect((await call(cwd, "coder::read-file", { path: "config.yaml" })).stdout).toContain("port: 80");
      expect((await call(cwd, "coder::create-file", file("a/config.yaml"))).stdout).toContain(
        '"success": true',
      );
    });

    test("the files that the environment and --config name", async () => {
      const cwd = projectOf({
        "set/one.yaml": "{}",
        "set/iii.yaml": "{}",
        "set/named.yaml": "base_path: ./\n",
      });
      const env = { III_CONFIG: join(cwd, "set/one.yaml"), III_CONFIG_PATH: join(cwd, "set/iii.yaml") };
      for (const path of ["set/one.yaml", "set/iii.yaml"])
        expect((await call(cwd, "coder::create-file", file(path), env)).stdout).toContain("C211");
      const whole = await call(cwd, "coder::delete-file", { paths: ["set"], recursive: true }, env);
      expect(whole.stdout).toContain("C211");
      const named = [
        "call",
        "coder::create-file",
        JSON.stringify(file("set/named.yaml")),
        "--config",
        "set/named.yaml",
      ];
      expect((await runCoder(subject, named, { cwd })).stdout).toContain("C211");
    });
  });

  describe("/ and the home folder", () => {
    const home = projectOf({ "named.yaml": "base_path: ./\n", "globs.yaml": "non_accessible_globs: []\n" });
    const env = { HOME: home };

    test.each([
      ["mcp", ["mcp"]],
      ["mcp with a file that names none", ["mcp", "--config", join(home, "globs.yaml")]],
      ["serve", serveArgs],
      ["serve with a file that names none", [...serveArgs, "--config", join(home, "globs.yaml")]],
    ])("%s does not serve them unless they are named", async (_, args) => {
      await expectRefusal(subject, { args, cwd: "/", env, words: ["--base-path", "/"] });
      await expectRefusal(subject, { args, cwd: home, env, words: ["--base-path", home, "home folder"] });
    });

    test.each([
      ["--base-path", "."],
      ["--config", join(home, "named.yaml")],
    ])("%s %s names it", async (flag, value) => {
      const args = [flag, value];
      const said = await runCoder(subject, ["mcp", ...args], { cwd: home, env });
      expect(said.stderr).toContain(`"base_path":"${home}"`);
      expect(await serving(subject, args, { cwd: home, env })).toMatchObject({ base_path: home });
    });

    test("mcp warns of any other folder that nobody named", async () => {
      const cwd = projectOf({});
      expect((await runCoder(subject, ["mcp"], { cwd, env })).stderr).toMatch(
        new RegExp(`"level":"warn","message":"[^"]*","base_path":"${cwd}"`),
      );
      expect((await runCoder(subject, ["mcp", "--base-path", "."], { cwd, env })).stderr).not.toContain(
        '"warn"',
      );
    });
  });

  test("the log has scheme, host and port of an address, and no secret of it", async () => {
    const cwd = projectOf({});
    const engine = await startEngine();
    const { port } = new URL(engine.url);
    const secret = `ws://user:PASSWORD@127.0.0.1:${port}/?token=TOKEN`;
    const worker = startCoder(subject, ["--url", secret], { cwd });
    await worker.waitForStderr(/"message":"serving".*\n/);
    worker.child.kill("SIGTERM");
    await worker.exited;
    await engine.stop();
    expect(worker.stderr()).toContain(`"url":"ws://127.0.0.1:${port}"`);
    expect(worker.stderr()).not.toMatch(/PASSWORD|TOKEN|user/);
    const absent = await runCoder(subject, [
      "call",
      "coder::tree",
      "{}",
      "--url",
      "ws://user:PASSWORD@127.0.0.1:9/?token=TOKEN",
    ]);
    expect(absent.stderr).toContain("ws://127.0.0.1:9");
    expect(absent.stderr).not.toMatch(/PASSWORD|TOKEN|user:/);
  });
});
