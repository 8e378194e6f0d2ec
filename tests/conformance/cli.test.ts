import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { IIIClient } from "iii-sdk";
import { startEngine } from "../../src/embedded-engine/engine.ts";
import { parseError } from "../harness/errors.ts";
import { commandOf, defaultSubjects, repository, runCoder, startCoder } from "../harness/subject.ts";
import { logFaults } from "../harness/with-worker.ts";
import { callThrough, connectClient, startWorker, temporaryFolder } from "../harness/worker-fixture.ts";

const here = temporaryFolder();
mkdirSync(join(here, "base"));
writeFileSync(join(here, "base/a.txt"), "a\n");
writeFileSync(join(here, "base/.env"), "denied-secret\n");
writeFileSync(join(here, "payload.json"), '{"path":"a.txt"}');
afterAll(() => rmSync(here, { recursive: true }));

const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { version: string };
const base = ["--base-path", join(here, "base")];
const oneLine = /^[^\n]+\n$/;

describe.each(defaultSubjects)("%s", (subject) => {
  const run = (args: readonly string[], options: Parameters<typeof runCoder>[2] = {}) =>
    runCoder(subject, args, { cwd: here, ...options });

  test.each(["--version", "-v"])("%s prints name and version", async (flag) => {
    expect(await run([flag])).toEqual({ code: 0, stdout: `coder ${version}\n`, stderr: "" });
  });

  test.each(["--help", "-h"])("%s names every flag and the command", async (flag) => {
    const { code, stdout, stderr } = await run([flag]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const flags = [
      "--config",
      "--base-path",
      "--url",
      "--engine",
      "--log-level",
      "--print-schema",
      "--manifest",
      "--version",
      "--help",
    ];
    expect([...flags, "coder call", "III_URL"].filter((word) => !stdout.includes(word))).toEqual([]);
  });

  test("--manifest is what the registry reads", async () => {
    const { code, stdout, stderr } = await run(["--manifest"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const manifest = JSON.parse(stdout);
    expect(Object.keys(manifest)).toEqual([
      "name",
      "version",
      "description",
      "default_config",
      "supported_targets",
    ]);
    expect(manifest).toMatchObject({ name: "coder", version, description: expect.stringMatching(/.{20}/) });
    expect(manifest.supported_targets).toEqual([expect.stringMatching(/^(x86_64|aarch64|armv7)-.+-.+/)]);
    expect(manifest.default_config).toMatchObject({
      base_path: "./",
      non_accessible_globs: ["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/secrets/**"],
      max_read_bytes: 10485760,
      max_write_bytes: 10485760,
      tree_default_depth: 4,
      tree_per_folder_limit: 50,
      list_default_page_size: 100,
      list_max_page_size: 1000,
      search_default_max_matches: 1000,
      search_default_max_line_bytes: 4096,
    });
  });

  test.each([
    ["--nope", ["--nope"]],
    ["--nope", ["--nope=1"]],
    ["--base_path", ["--base_path", "x"]],
    ["-x", ["-x"]],
    ["--config", ["--config"]],
    ["--config", ["--config="]],
    ["--config", ["--config", "--url", "ws://127.0.0.1:9"]],
    ["--url", ["--url"]],
    ["--base-path", ["--base-path"]],
    ["--engine", ["--engine"]],
    ["--log-level", ["--log-level"]],
    ["--engine", ["--engine", "foreign"]],
    ["--engine", ["--engine", "embedded:"]],
    ["--engine", ["--engine", "embedded:port"]],
    ["--engine", ["--engine", "embedded:65536"]],
    ["--log-level", ["--log-level", "loud"]],
    ["--url", ["--url", "nonsense"]],
    ["--version", ["--version=1"]],
    ["serve", ["serve"]],
    ["call", ["call"]],
    ["extra", ["call", "coder::tree", "{}", "extra"]],
  ])("misuse that names %s: %j", async (named, args) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(named);
  });

  describe("call in this process", () => {
    const answer = { path: "a.txt", content: "a\n", is_utf8: true, size: 2 };

    test.each([
      ["JSON on the command line", ['{"path":"a.txt"}'], ""],
      ["standard input", ["-"], '{"path":"a.txt"}'],
      ["a file", ["@payload.json"], ""],
    ])("takes its payload from %s", async (_, payload, input) => {
      const { code, stdout, stderr } = await run(["call", "coder::read-file", ...payload, ...base], {
        input,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject(answer);
    });

    test("takes no payload for the empty one", async () => {
      const { code, stdout } = await run(["call", "coder::list-folder", ...base]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ path: ".", total: 2 });
    });

    test("goes by the configuration file", async () => {
      writeFileSync(join(here, "call.yaml"), `base_path: ${join(here, "base")}\nnon_accessible_globs: []\n`);
      const { code, stdout } = await run([
        "call",
        "coder::read-file",
        '{"path":".env"}',
        "--config",
        "call.yaml",
      ]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ content: "denied-secret\n" });
    });

    test("serves the current folder with the defaults when there is no configuration", async () => {
      const call = (payload: string) =>
        run(["call", "coder::read-file", payload], { cwd: join(here, "base") });
      expect(JSON.parse((await call('{"path":"a.txt"}')).stdout)).toMatchObject(answer);
      expect((await call('{"path":".env"}')).stderr).toContain("C211");
    });

    test("does not go by ./config.yaml, which anybody may have written", async () => {
      const cwd = temporaryFolder();
      mkdirSync(join(cwd, "served"));
      writeFileSync(join(cwd, "config.yaml"), "base_path: ./served\n");
      const { code, stdout } = await run(["call", "coder::list-folder"], { cwd });
      rmSync(cwd, { recursive: true });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ total: 2 });
    });

    test.each([
      ["a denied file", "coder::read-file", '{"path":".env"}', "C211"],
      ["a path that leads out", "coder::read-file", '{"path":"../payload.json"}', "C215"],
      ["a missing field", "coder::read-file", "{}", "C210"],
      ["half of a surrogate pair", "coder::read-file", '{"path":"\\ud800.txt"}', "C210"],
      ["a payload that is no object", "coder::tree", "7", "C210"],
    ])("%s: the error on stderr, exit 1", async (_, id, payload, errorCode) => {
      const { code, stdout, stderr } = await run(["call", id, payload, ...base]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(oneLine);
      expect(parseError(stderr.trimEnd())?.code).toBe(errorCode);
    });

    test("a batch with failed entries is an answer", async () => {
      const { code, stdout } = await run([
        "call",
        "coder::delete-file",
        '{"paths":[".env","none"]}',
        ...base,
      ]);
      expect(code).toBe(3);
      expect(JSON.parse(stdout)).toMatchObject({
        results: [{ success: false }, { success: true, removed: false }],
      });
    });

    test.each([
      ["a payload that is no JSON", "coder::tree", "{path:1}", "JSON"],
      ["a payload of too many levels", "coder::tree", "[".repeat(200) + "]".repeat(200), "127 levels"],
      ["a payload file that is missing", "coder::tree", "@none.json", "none.json"],
      ["an unknown function", "coder::nope", "{}", "coder::nope"],
    ])("%s is misuse", async (_, id, payload, named) => {
      const { code, stdout, stderr } = await run(["call", id, payload, ...base]);
      expect(stdout).toBe("");
      expect(code).toBeGreaterThan(0);
      expect(stderr).toMatch(oneLine);
      expect(stderr).toContain(named);
    });
  });

  describe("what a person mistypes", () => {
    test.each([
      ["a function", ["call", "serch"], "did you mean coder::search?"],
      ["a function with _", ["call", "read_file"], "did you mean coder::read-file?"],
      ["a function whose help is requested", ["call", "serch", "--help"], "did you mean coder::search?"],
      ["a flag", ["--base-pth", "."], "did you mean --base-path?"],
      ["a flag with _", ["mcp", "--base_path", "."], "did you mean --base-path?"],
      ["a command", ["undoo"], "did you mean coder undo?"],
      ["a command whose help is requested", ["chekpoints", "--help"], "did you mean coder checkpoints?"],
      ["a command after help", ["help", "chekpoints"], "did you mean coder checkpoints?"],
      ["neither a command nor a function after help", ["help", "xyzzy"], '"xyzzy" is not a command of coder'],
      ["a function without call", ["raed-file"], "did you mean coder call read-file?"],
      ["neither a command nor a function", ["xyzzy"], "coder call FUNCTION"],
      ["a bare path", ["call", "read-file", "a b.txt"], `did you mean '{"path":"a b.txt"}'? See`],
      ["a bare query", ["call", "search", "TODO"], `did you mean '{"query":"TODO"}'? See`],
      ["JSON that the shell has unquoted", ["call", "read-file", "{path:a}"], `such as '{"path":`],
      ["a job without a worker", ["call", "shell::exec_bg", "{}"], "call shell::exec"],
    ])("%s", async (_, args, meant) => {
      const { code, stdout, stderr } = await run(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(oneLine);
      expect(stderr).toContain(meant);
    });

    test("a field, which is ignored and reported", async () => {
      const { code, stdout, stderr } = await run([
        "call",
        "read-file",
        '{"path":"a.txt","line_form":1}',
        ...base,
      ]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ content: "a\n" });
      expect(stderr).toBe(
        'coder: coder::read-file has no field "line_form", so it was ignored; did you mean line_from?\n',
      );
    });

    test.each([
      ["a field that the profile refuses", "agent", '{"maxdepth":1}', "C210"],
      ["an element of a list", "contract", "[1]", "C210"],
    ])("%s is not reported as ignored", async (_, profile, payload, code) => {
      const config = join(here, `${profile}.yaml`);
      writeFileSync(config, `base_path: ${join(here, "base")}\nprofile: ${profile}\n`);
      const { stderr } = await run(["call", "tree", payload, "--config", config]);
      expect(stderr).toMatch(oneLine);
      expect(parseError(stderr.trimEnd())?.code).toBe(code);
    });

    test("a missing field, with the help that lists all", async () => {
      const { code, stderr } = await run(["call", "create-file", '{"path":"x","content":""}', ...base]);
      expect(code).toBe(1);
      expect(stderr).toStartWith(
        "coder: coder::create-file needs files; see coder call coder::create-file --help\n",
      );
    });

    test("a key of the configuration", async () => {
      writeFileSync(join(here, "typo.yaml"), "base_path: base\nnon_accessible_glob: []\n");
      const { code, stderr } = await run(["call", "tree", "--config", "typo.yaml"]);
      expect(code).toBe(1);
      expect(stderr).toContain("did you mean non_accessible_globs?");
    });
  });

  test.each([
    ["undo", "{}", '{"dry_run":true}'],
    ["delete-file", '{"paths":["b.txt"]}', '{"paths":["b.txt"],"dry_run":true}'],
  ])("a dry run of %s that is answered in JSON is said to be one", async (id, payload, trial) => {
    const folder = join(here, `dry-${id}`);
    mkdirSync(folder);
    writeFileSync(join(here, "dry.yaml"), JSON.stringify({ base_path: folder, journal: {} }));
    const call = (name: string, sent: string) => run(["call", name, sent, "--config", "dry.yaml"]);
    await call("create-file", '{"files":[{"path":"b.txt","content":""}]}');
    const tried = await call(id, trial);
    expect([tried.code, tried.stderr]).toEqual([0, "coder: this was a dry run, so nothing was changed\n"]);
    expect(existsSync(join(folder, "b.txt"))).toBe(true);
    const done = await call(id, payload);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(existsSync(join(folder, "b.txt"))).toBe(false);
  });

  test("the help of a function lists its fields, and calls to paste that are valid", async () => {
    const { code, stdout } = await run(["call", "search", "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("  query  (string, required)");
    expect(stdout).toContain("  regex  (boolean, default false)");
    expect(await run(["help", "call", "coder::search"])).toMatchObject({ stdout });
    for (const name of ["undo", "checkpoints"]) {
      const { stdout: help } = await run([name, "--help"]);
      expect(help).toStartWith(`coder ${name} - `);
      expect(help).toContain(`\ncoder::${name} - `);
    }
    const [, pasted = ""] = /^ {4}coder call search '(.*)'$/m.exec(stdout) ?? [];
    expect(await run(["call", "search", pasted, ...base])).toMatchObject({ code: 0 });
    expect((await run(["call", "--help"])).stdout).toContain("  apply-patch");
    expect((await run(["mcp", "--help"])).stdout).not.toContain("  --engine");
    expect((await run(["review", "--help"])).stdout).not.toMatch(/--print|--remove|--approval/);
    expect((await run(["completions", "--help"])).stdout).toStartWith("coder completions - ");
  });

  describe("exit status", () => {
    const commands = join(here, "commands.yaml");
    writeFileSync(commands, "allowlist: [sh, sleep]\n");
    const exec = (payload: object) => ["shell::exec", JSON.stringify(payload), "--config", commands, ...base];

    test.each([
      [0, "a command that succeeds", exec({ command: "sh", args: ["-c", "exit 0"] })],
      [4, "a command that fails", exec({ command: "sh", args: ["-c", "exit 7"] })],
      [4, "a command that a signal ends", exec({ command: "sh", args: ["-c", "kill -9 $$"] })],
      [4, "a command that times out", exec({ command: "sleep", args: ["60"], timeout_ms: 100 })],
      [1, "a command that may not run", exec({ command: "id" })],
      [1, "an undo of nothing", ["undo", "{}", ...base]],
      [3, "an entry that fails", ["move", '{"files":[{"from":"none","to":"x"}]}', ...base]],
      [2, "a missing payload file", ["tree", "@none.json", ...base]],
    ])("%d: %s", async (status, _, args) => {
      expect((await run(["call", ...args])).code).toBe(status);
    });

    test("3: an undo that meets a conflict", async () => {
      const config = join(here, "journal.yaml");
      writeFileSync(config, `base_path: ${join(here, "base")}\njournal: { dir: ${join(here, "state")} }\n`);
      const create = JSON.stringify({ files: [{ path: "made.txt", content: "made\n" }] });
      expect((await run(["call", "create-file", create, "--config", config])).code).toBe(0);
      writeFileSync(join(here, "base/made.txt"), "changed by another program\n");
      expect((await run(["undo", "--config", config])).code).toBe(3);
      expect((await run(["undo", '{"force":true}', "--config", config])).code).toBe(3);
      rmSync(join(here, "base/made.txt"), { force: true });
    });
  });

  test("an output that cannot be written is said", async () => {
    const command = [...commandOf(subject), "call", "tree", ...base].map((word) => `'${word}'`).join(" ");
    const child = Bun.spawn(["sh", "-c", `${command} > /dev/full`], { cwd: here, stderr: "pipe" });
    expect(await child.stderr.text()).toBe("coder: the output cannot be written (ENOSPC)\n");
    expect(await child.exited).toBe(1);
  });

  describe("plans, which end with the process", () => {
    const config = join(here, "plans.yaml");
    writeFileSync(
      config,
      `base_path: ${join(here, "base")}\njournal: { dir: ${join(here, "plans")} }\napproval: destructive\n`,
    );

    test("are not given", async () => {
      const changes = { changes: [{ op: "create", path: "planned.txt", content: "" }], dry_run: true };
      const tried = await run(["call", "transact", JSON.stringify(changes), "--config", config]);
      expect(tried).toMatchObject({ code: 0, stderr: "" });
      expect(Object.keys(JSON.parse(tried.stdout) as object).sort()).toEqual(["committed", "results"]);
      const declined = await run(["call", "delete-file", '{"paths":["a.txt"]}', "--config", config]);
      expect(declined).toMatchObject({ code: 1, stdout: "" });
      const error = parseError(declined.stderr.trimEnd());
      expect(error?.code).toBe("C224");
      expect(error?.message).toContain("Send it to a running worker with --url");
      expect(error?.message).not.toContain("plan");
      expect(error?.details).toBeUndefined();
    });

    test("cannot be committed", async () => {
      const plan = JSON.stringify({ plan: "0".repeat(32) });
      const { code, stderr } = await run(["call", "commit", plan, "--config", config]);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr:
          "coder: coder::commit carries out a plan of a running worker, and this process has none; send the call without dry_run, or both calls to a running worker with --url\n",
      });
    });
  });

  describe("audit verify", () => {
    const trail = join(here, "audit.jsonl");
    const config = join(here, "audit.yaml");
    const verify = () => run(["audit", "verify", trail]);
    const makeFolder = ["call", "make-folder", '{"paths":["made"]}', "--config", config];

    test("has lines for calls that change something, and is not made by those that read", async () => {
      rmSync(trail, { force: true });
      const dir = join(here, "audit-state");
      const keys = {
        base_path: join(here, "base"),
        audit: { file: trail },
        journal: { dir },
        profile: "agent",
      };
      writeFileSync(config, JSON.stringify(keys));
      for (const words of ["coder::info", 'coder::search {"query":"x"}', "coder::checkpoints", "coder::info"])
        expect(await run(["call", ...words.split(" "), "--config", config])).toMatchObject({ code: 0 });
      expect(await run(["checkpoints", "--config", config])).toMatchObject({ code: 0 });
      expect([trail, dir].filter((path) => existsSync(path))).toEqual([]);
      expect(await run(makeFolder)).toMatchObject({ code: 0 });
      expect([trail, dir].filter((path) => existsSync(path))).toEqual([trail, dir]);
      const lines = readFileSync(trail, "utf8");
      const info = await run(["call", "coder::info", "--config", config]);
      expect(JSON.parse(info.stdout).audit).toEqual({
        enabled: true,
        newest: `sha256:${createHash("sha256").update(lines.trimEnd()).digest("hex")}`,
      });
      expect(readFileSync(trail, "utf8")).toBe(lines);
    });

    test("finds changed and removed lines, over all files", async () => {
      rmSync(trail, { force: true });
      const bounds = "max_bytes: 4096, keep: 9";
      writeFileSync(config, `base_path: ${join(here, "base")}\naudit: { file: ${trail}, ${bounds} }\n`);
      for (let call = 0; call < 3; call++) await run(makeFolder);
      expect(await verify()).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("3 lines in 1 file; "),
      });
      const genuine = readFileSync(trail, "utf8").split("\n");
      renameSync(trail, `${trail}.1`);
      writeFileSync(trail, "");
      await run(makeFolder);
      expect(await verify()).toMatchObject({
        code: 3,
        stdout: expect.stringContaining(`${trail}:1 does not`),
      });
      rmSync(`${trail}.1`);
      writeFileSync(trail, [genuine[0], genuine[2], ""].join("\n"));
      expect(await verify()).toMatchObject({
        code: 3,
        stdout: expect.stringContaining(`${trail}:2 does not`),
      });
      writeFileSync(trail, [genuine[0]!.replace('"ok"', '"error"'), genuine[1], ""].join("\n"));
      expect(await verify()).toMatchObject({
        code: 3,
        stdout: expect.stringContaining(`${trail}:2 does not`),
      });
      writeFileSync(trail, [genuine[1], genuine[2], ""].join("\n"));
      expect(await verify()).toMatchObject({
        code: 3,
        stdout: expect.stringContaining(`${trail}:1 follows a line that is missing`),
      });
      writeFileSync(trail, [genuine[0], "cut", ""].join("\n"));
      expect(await verify()).toMatchObject({ code: 3, stdout: expect.stringContaining(`${trail}:2 is not`) });
    });

    test("finds a file that is missing between others", async () => {
      rmSync(trail, { force: true });
      for (let call = 0; call < 3; call++) await run(makeFolder);
      const [first, second, third] = readFileSync(trail, "utf8").split("\n");
      writeFileSync(`${trail}.2`, `${first}\n`);
      writeFileSync(`${trail}.1`, `${second}\n`);
      writeFileSync(trail, `${third}\n`);
      expect(await verify()).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^3 lines in 3 files; /),
      });
      rmSync(`${trail}.1`);
      expect(await verify()).toMatchObject({
        code: 3,
        stdout: `2 lines in 2 files. Lines were changed, removed, inserted, or cut off by a kill or a full disk:
  ${trail}.1 is missing
  ${trail}:1 does not follow the line before it
`,
      });
      rmSync(`${trail}.2`);
    });

    test("says that a trail is missing", async () => {
      expect(await run(["audit", "verify", "none.jsonl"])).toMatchObject({ code: 1, stdout: "" });
    });
  });

  describe("call through an engine", () => {
    test("answers, errors and addresses", async () => {
      const served = await startWorker(subject);
      served.build({ "a.txt": "through\n", ".env": "denied-secret" });
      const { url } = served.engine;
      try {
        const answered = await run(["call", "coder::read-file", '{"path":"a.txt"}', "--url", url]);
        expect(answered).toMatchObject({ code: 0, stderr: "" });
        expect(JSON.parse(answered.stdout)).toMatchObject({ content: "through\n" });

        const byEnvironment = await run(["call", "coder::read-file", "-"], {
          input: '{"path":"a.txt"}',
          env: { III_URL: url },
        });
        expect(JSON.parse(byEnvironment.stdout)).toMatchObject({ content: "through\n" });

        const refused = await run(["call", "coder::read-file", '{"path":".env"}', "--url", url]);
        expect(refused).toMatchObject({ code: 1, stdout: "" });
        expect(parseError(refused.stderr.trimEnd())?.code).toBe("C211");

        const misspelt = await run(["call", "tree", '{"maxdepth":1}', "--url", url]);
        expect(misspelt).toMatchObject({
          code: 0,
          stderr:
            'coder: coder::tree has no field "maxdepth", which a worker in the profile contract ignores; did you mean max_depth?\n',
        });

        const unknown = await run(["call", "coder::nope", "{}", "--url", url]);
        expect(unknown).toMatchObject({ code: 1, stdout: "" });
        expect(unknown.stderr).toMatch(oneLine);
        expect(unknown.stderr).toContain("coder::nope");
      } finally {
        await served.stop();
      }
    });

    test("a named folder is the one that is acted on, or the call is refused", async () => {
      const served = await startWorker(subject);
      served.build({ "a.txt": "served\n" });
      const named = temporaryFolder();
      writeFileSync(join(named, "named.yaml"), `base_path: ${named}\n`);
      const { url } = served.engine;
      const remove = (...args: string[]) =>
        run(["call", "coder::delete-file", '{"paths":["a.txt"]}', ...args], { env: { III_URL: url } });
      try {
        for (const folder of [
          ["--base-path", named],
          ["--config", join(named, "named.yaml")],
        ]) {
          writeFileSync(join(named, "a.txt"), "named\n");
          expect(await remove(...folder)).toMatchObject({ code: 0, stderr: "" });
          expect(existsSync(join(named, "a.txt"))).toBe(false);

          const refused = await remove(...folder, "--url", url);
          expect(refused).toMatchObject({ code: 2, stdout: "" });
          expect(refused.stderr).toContain("leave --url out to run the function in this process");
        }
        const readOnly = await remove("--read-only", "--base-path", named);
        expect(readOnly).toMatchObject({ code: 2, stdout: "" });
        expect(readOnly.stderr).toContain("coder::delete-file can change something, and --read-only");
        const restricted = await remove("--read-only");
        expect(restricted).toMatchObject({ code: 2, stdout: "" });
        expect(restricted.stderr).toContain("--base-path DIR");
        expect(readFileSync(join(served.base, "a.txt"), "utf8")).toBe("served\n");
      } finally {
        await served.stop();
        rmSync(named, { recursive: true });
      }
    });

    test("an absent engine is one line, exit 1", async () => {
      const { code, stdout, stderr } = await run(["call", "coder::tree", "{}", "--url", "ws://127.0.0.1:9"]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(oneLine);
      expect(stderr).toContain("ws://127.0.0.1:9");
    });
  });

  test("a worker without an engine says once where it looks, and what to do", async () => {
    const worker = startCoder(subject, ["--url", "ws://127.0.0.1:9", ...base], { cwd: here });
    await worker.waitForStderr(/no engine answers/);
    worker.child.kill("SIGTERM");
    expect(await worker.exited).toBe(0);
    const lines = worker
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"warn"'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { url: "ws://127.0.0.1:9", code: "ECONNREFUSED", advice: expect.stringContaining("--engine embedded") },
    ]);
  });

  test("a call through an engine that refuses the connection is one line, exit 1", async () => {
    const engine = await startEngine({ token: "0123456789abcdef", ownerOf: () => 65534 });
    const bare = engine.url.replace("/0123456789abcdef", "");
    const { code, stdout, stderr } = await run(["call", "coder::tree", "{}", "--url", bare]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain(`III_URL=${bare}/TOKEN`);
    await engine.stop();
  });

  describe("an engine of its own", () => {
    test.each(["SIGTERM", "SIGINT"] as const)(
      "serves on loopback until %s, and says where",
      async (signal) => {
        const worker = startCoder(subject, ["--engine", "embedded:0", ...base], { cwd: here });
        await worker.waitForStderr(/ws:\/\/127\.0\.0\.1:\d+[^"]*"/);
        const [url = ""] = /ws:\/\/127\.0\.0\.1:\d+[^"]*/.exec(worker.stderr()) ?? [];
        const client = connectClient(url);
        expect(await firstAnswer(client)).toMatchObject({ content: "a\n" });
        await client.shutdown();
        worker.child.kill(signal);
        expect(await worker.exited).toBe(0);
        expect(logFaults(worker.stdout(), worker.stderr())).toEqual([]);
      },
    );
  });

  test.each([
    ["--log-level", { args: ["--log-level", "error"] }],
    ["CODER_LOG", { env: { CODER_LOG: "error" } }],
    [
      "--log-level, whatever CODER_LOG says,",
      { args: ["--log-level", "error"], env: { CODER_LOG: "debug" } },
    ],
  ])("%s sets the level of the log", async (_, options) => {
    const served = await startWorker(subject, {}, options);
    await served.call("coder::tree", {});
    expect(await served.stop()).toBe(0);
    expect(served.worker.stderr()).toBe("");
  });

  test("a call is one line of the log", async () => {
    const served = await startWorker(subject);
    served.build({ "a.txt": "needle\n" });
    await served.call("coder::read-file", { path: "a.txt" });
    await served.call("coder::read-file", { path: "none" });
    await served.stop();
    const lines = served.worker
      .stderr()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const calls = lines.filter((line) => line["function"] === "coder::read-file");
    expect(calls).toMatchObject([{ outcome: "ok" }, { outcome: "error", code: "C211" }]);
    for (const call of calls)
      expect(call).toMatchObject({ ms: expect.any(Number), bytes: expect.any(Number) });
  });
});

/** Resolves to the first answer. The engine accepts calls shortly before the functions are registered. */
async function firstAnswer(client: IIIClient): Promise<unknown> {
  for (;;) {
    const { answer, error } = await callThrough(client, "coder::read-file", { path: "a.txt" });
    if (error?.code !== "function_not_found") return answer;
  }
}
