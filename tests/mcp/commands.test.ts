/** `coder mcp --commands`: commands besides the file functions, in the same tree and under the same rules. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf, defaultSubjects, runCoder } from "../harness/subject.ts";
import { buildTree } from "../harness/tree.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";
import { startHttp } from "./http-fixture.ts";
import golden from "./tools.golden.json" with { type: "json" };

const tree = {
  "a.txt": "one\n",
  ".env": "SECRET=1\n",
  "secrets/key": "SECRET=2\n",
  "sub/b.txt": "two\n",
  "wait.sh": "until [ -e go ]; do sleep 0.01; done; echo gone\n",
};

const names = ["shell_exec", "shell_exec_bg", "shell_status", "shell_kill", "shell_list"];

describe.each(defaultSubjects)("the %s", (subject) => {
  let connected: McpFixture;
  beforeAll(async () => {
    connected = await connectStdio(subject, {
      args: ["--commands", "--allow", "sh"],
      config: { commands: { os_sandbox: "required" } },
    });
  });
  afterAll(() => connected[Symbol.asyncDispose]());
  beforeEach(() => buildTree(connected.root, tree));

  const exec = async (command: string, more: object = {}) =>
    textOf(await connected.call("shell_exec", { command, ...more }));
  const sh = (line: string, more: object = {}) => exec("sh", { args: ["-c", line], ...more });

  test("lists the tools on files and those for commands, in few bytes", async () => {
    const { tools } = await connected.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...golden.map(({ name }) => name), ...names]);
    expect(JSON.stringify({ tools }).length).toBeLessThan(17_000);
    const text = connected.client.getInstructions();
    expect(text).toContain("coder_search");
    expect(text).toContain("shell_exec_bg");
  });

  test("a command runs in the folder that is served, or in cwd, relative to it", async () => {
    expect(await exec("pwd")).toStartWith(`${connected.base}\n[exit code 0`);
    for (const cwd of ["sub", "./sub/", join(connected.base, "sub")])
      expect(await exec("pwd", { cwd })).toStartWith(`${connected.base}/sub\n`);
    const missing = await connected.call("shell_exec", { command: "pwd", cwd: "none" });
    expect(missing.isError).toBe(true);
    expect(textOf(missing)).toMatch(/^S211: "none" is not found/);
    expect(textOf(await connected.call("shell_exec", { command: "pwd", cwd: ".." }))).toMatch(/^S215: /);
  });

  test.each([
    ["a\n \n\n", "", "a\n \n\n[exit code 0"],
    ["\n", "", "\n[exit code 0"],
    ["\u00a0", "\t\n\n", "\u00a0\n[stderr]\n\t\n\n[exit code 0"],
    ["", "", "[exit code 0"],
  ])("of the outputs %j and %j only the end of the last line is not shown", async (out, err, text) => {
    const line = `printf %s "$0"; printf %s "$1" >&2`;
    expect(await exec("sh", { args: ["-c", line, out, err] })).toStartWith(text);
  });

  test("what a command changes is named after it in the feed of another process too", async () => {
    const ben = await connected.connectOther("ben");
    await ben.call("coder_changes", {});
    await sh("echo made > made.txt; mv sub/b.txt c.txt");
    const changes = async (args: object) => textOf(await ben.call("coder_changes", { ...args }));
    const anna = String.raw`while shell_exec sh ran, by tests 1\.0\.0 \(session [\da-f]{8}\)`;
    expect(await changes({})).toMatch(new RegExp(String.raw`created: made\.txt \(${anna}\)`));
    expect(await changes({ by: "others" })).toMatch(
      new RegExp(String.raw`^moved: sub/b\.txt to c\.txt \(${anna}\)\n.*created: made\.txt \(${anna}\)`, "s"),
    );
    writeFileSync(join(connected.base, "later.txt"), "");
    expect(await changes({ path: "later.txt" })).toContain("created: later.txt (by another program)\n");
  });

  test("both work on the same files, in the order of the calls", async () => {
    const [, shown] = await Promise.all([
      connected.call("coder_create_file", { path: "new.txt", content: "new\n" }),
      exec("cat new.txt"),
    ]);
    expect(shown).toStartWith("new\n");
    const [, read] = await Promise.all([
      sh("echo changed > a.txt"),
      connected.call("coder_read_file", { path: "a.txt" }),
    ]);
    expect(textOf(read)).toStartWith("changed\n");
  });

  test.each([
    "cat .env",
    "cat secrets/key",
    "sh -c 'cp -r . $TMPDIR/all; cat $TMPDIR/all/.env $TMPDIR/all/secrets/key'",
  ])("%s does not show what is denied", async (command) => {
    expect(await exec(command)).not.toContain("SECRET");
  });

  test("what is denied and comes later is hidden too", async () => {
    await sh("true");
    buildTree(connected.root, { ...tree, "sub/deep/.env": "SECRET=3\n" });
    expect(await sh("cat sub/deep/.env")).not.toContain("SECRET");
  });

  test("a hidden file that is read through a link is named", async () => {
    await sh("ln -s .env lnk; ln -s secrets more; ln -s a.txt plain");
    const note = (path: string) => `[sandbox: ${path} is hidden: commands do not find its content there]`;
    expect(await exec("cat lnk")).toContain(note(".env"));
    expect(await exec("cat ../lnk", { cwd: "sub" })).toContain(note(".env"));
    expect(await exec("cat more/key")).toContain(note("secrets/key"));
    expect(await exec("grep -r x more/")).toContain(note("secrets/key"));
    expect(await exec("cat plain")).not.toContain("sandbox");
  });

  test("a hidden file that another program replaces or creates while a command runs is said to be readable", async () => {
    const started = await connected.call("shell_exec_bg", {
      command: "sh",
      args: ["-c", "echo up; sh wait.sh; cat .env sub/.env secrets/key"],
    });
    const job_id = /job-\d+/.exec(textOf(started))![0];
    await connected.call("shell_status", { job_id, wait_for: "up" });
    writeFileSync(join(connected.base, "new.tmp"), "NEW\n");
    renameSync(join(connected.base, "new.tmp"), join(connected.base, ".env"));
    writeFileSync(join(connected.base, "sub/.env"), "MADE\n");
    writeFileSync(join(connected.base, "go"), "");
    const ended = textOf(await connected.call("shell_status", { job_id, wait_ms: 30_000 }));
    expect(ended).toContain("\nNEW\nMADE\n");
    expect(ended.split("\n").filter((line) => line.startsWith("[sandbox: "))).toEqual([
      "[sandbox: .env was replaced by another program while the command ran, which could read it from then on: tell the user]",
      "[sandbox: sub/.env was created while the command ran, which could read it; later commands cannot: tell the user, unless the command created it]",
      "[sandbox: secrets/key is hidden: commands do not find its content there]",
    ]);
    const later = await sh("cat .env sub/.env");
    expect(later).not.toContain("NEW");
    expect(later).toContain("[sandbox: .env is hidden: commands do not find its content there]");
  });

  test("a hidden file that another program writes in place stays hidden", async () => {
    const started = await connected.call("shell_exec_bg", {
      command: "sh",
      args: ["-c", "echo up; sh wait.sh; cat .env"],
    });
    const job_id = /job-\d+/.exec(textOf(started))![0];
    await connected.call("shell_status", { job_id, wait_for: "up" });
    writeFileSync(join(connected.base, ".env"), "NEW\n");
    writeFileSync(join(connected.base, "go"), "");
    const ended = textOf(await connected.call("shell_status", { job_id, wait_ms: 30_000 }));
    expect(ended).not.toContain("NEW");
    expect(ended).toContain("[sandbox: .env is hidden: commands do not find its content there]");
  });

  test("a command writes in the folder that is served, and not outside", async () => {
    expect(await sh("echo x > ../outside; echo y > inside")).toContain("../outside");
    expect(existsSync(join(connected.root, "outside"))).toBe(false);
    expect(existsSync(join(connected.base, "inside"))).toBe(true);
  });

  test("a command of several lines runs neither in the foreground nor as a job", async () => {
    for (const tool of ["shell_exec", "shell_exec_bg"]) {
      const refused = await connected.call(tool, { command: "cat a.txt\nls" });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toContain("'command' has a line break outside of quotes");
    }
    expect(await exec("echo 'a\nb' \\\n c\n")).toStartWith("a\nb c\n[exit code 0");
    expect(await exec("echo", { args: ["a\nb"] })).toStartWith("a\nb\n[exit code 0");
  });

  test("an operator that is part of a word is noted", async () => {
    expect(await exec("echo a; ls")).toContain('\n[no shell runs here: echo got "a;" as it is; sh with args');
    expect(await exec("echo 'a; b'")).not.toContain("no shell");
  });

  test("a job says that timeout_ms has no effect on it, and shows as much as max_output_bytes", async () => {
    const args = ["-c", "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo $i; done"];
    const started = async (more: object) =>
      textOf(await connected.call("shell_exec_bg", { command: "sh", args, start_ms: 30_000, ...more }));
    expect(await started({ timeout_ms: 100 })).toEndWith(
      "]\n[timeout_ms has no effect on a job, which runs until it ends or shell_kill ends it]",
    );
    expect(await started({})).not.toContain("timeout_ms");
    const short = await started({ max_output_bytes: 8 });
    expect(short).toMatch(/^\[98 lines before: since 1, or grep\]\n99\n100\n\[job-\d+: exit code 0/);
    const job_id = /job-\d+/.exec(short)![0];
    expect(textOf(await connected.call("shell_status", { job_id, since: 1 }))).toStartWith("1\n2\n");
  });

  test.each([34, 50, 64])("a command that the real-time signal %d ends has failed", async (number) => {
    const args = ["-c", `kill -${number} $$; exit 9`];
    const ended = await connected.call("shell_exec", { command: "sh", args });
    expect(ended.isError).toBe(true);
    expect(textOf(ended)).toMatch(new RegExp(`^\\[ended by signal ${number}, \\d+ ms\\]$`));
    const job = textOf(await connected.call("shell_exec_bg", { command: "sh", args, start_ms: 30_000 }));
    expect(job).toMatch(new RegExp(`^\\[no output\\]\n\\[job-\\d+: ended by signal ${number} after`));
  });

  test("a job is followed and ended", async () => {
    const started = await connected.call("shell_exec_bg", { command: "sh wait.sh" });
    const job_id = /job-\d+/.exec(textOf(started))![0];
    await connected.call("coder_create_file", { path: "go", content: "" });
    expect(textOf(await connected.call("shell_status", { job_id, wait_for: "gone" }))).toStartWith("gone\n");
    await connected.call("shell_status", { job_id, wait_ms: 30_000 });
    expect(textOf(await connected.call("shell_list", {}))).toContain(`${job_id}  exit code 0`);
    expect(textOf(await connected.call("shell_kill", { job_id }))).toContain("had ended already");
  });

  test("the last matching lines of a job are shown, and those before as the answer says", async () => {
    const line = 'for i in 1 2 3 4 5 6 7 8 9; do echo "line $i"; echo plain; done';
    const started = await connected.call("shell_exec_bg", { command: "sh", args: ["-c", line] });
    const job_id = /job-\d+/.exec(textOf(started))![0];
    await connected.call("shell_status", { job_id, wait_ms: 30_000 });
    const status = async (args: object) => textOf(await connected.call("shell_status", { job_id, ...args }));
    const last = await status({ grep: "line", tail_lines: 2 });
    const [first, ...shown] = last.split("\n");
    expect(first).toBe("[7 lines that match before: since 1 without tail_lines]");
    expect(shown.filter((line) => line.includes("→"))).toEqual(["15→line 8", "17→line 9"]);
    const all = await status({ grep: "line", since: 1 });
    for (const number of [1, 2, 3, 4, 5, 6, 7]) expect(all).toContain(`→line ${number}\n`);
  });

  test("programs are those of the configuration, and of --allow", async () => {
    const refused = await connected.call("shell_exec", { command: "nmap" });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(
      /^command 'nmap' not in allowlist; send one of these instead: ls, .*, sh\.$/,
    );
  });
});

test("what git cannot do with a hidden file is said", async () => {
  const config = { commands: { os_sandbox: "required", allowlist: ["git", "sh"] } };
  await using connected = await connectStdio("executable", { config, tree });
  const sh = async (line: string) =>
    textOf(await connected.call("shell_exec", { command: "sh", args: ["-c", line] }));
  const note =
    "[sandbox: .env is hidden: git cannot add, stash or compare it; git stash -u, unlike -a, leaves it out]\n";
  const commit = "git -c user.name=a -c user.email=a@b commit -q -m first";
  await sh(`git init -q . && git add a.txt && ${commit}`);
  expect(await sh("git add -f .env")).toContain(note);
  expect(await sh("git diff --no-index /dev/null .env")).toContain(note);
  expect(await sh("git -c user.name=a -c user.email=a@b stash -u && git status --short")).not.toContain(
    "failed",
  );
});

test("git goes on beside a hidden file with changes of the user, as the notes say, and never changes it", async () => {
  const config = { commands: { os_sandbox: "required", allowlist: ["git", "sh"] } };
  await using connected = await connectStdio("executable", { config, tree });
  const file = join(connected.base, ".env");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: connected.base });
  const commit = () => git("commit", "-q", "-m", "one");
  git("init", "-q", "-b", "main");
  git("add", "-f", "a.txt", ".env");
  commit();
  git("checkout", "-q", "-b", "other");
  writeFileSync(file, "OTHER=of the branch\n");
  git("commit", "-qam", "two");
  git("checkout", "-q", "main");
  const local = "LOCAL=of the user, and longer\n";
  writeFileSync(file, local);
  const run = async (command: string) => textOf(await connected.call("shell_exec", { command }));
  const note =
    "[sandbox: .env is hidden, and git takes it for changed because its size is not the recorded one: git add .env";
  expect(await run("git status --short")).toContain(note);
  expect(await run("git checkout other")).toContain(note);
  expect(await run("git stash")).toContain(
    "[sandbox: git stopped in the middle, at a hidden file: git status shows",
  );
  await run("git stash drop");
  expect(await run("git add .env")).toContain("[exit code 0, ");
  expect(await run("git status --short")).not.toContain(".env");
  expect(await run("git checkout other")).toContain("Switched to branch 'other'");
  expect(await run("git status --short")).not.toContain(".env");
  expect(await run("git checkout main")).toContain("Switched to branch 'main'");
  expect(await run("git rebase other")).toContain("[sandbox: .env is hidden: commands do not change");
  expect(readFileSync(file, "utf8")).toBe(local);
  const objects = execFileSync("git", ["cat-file", "--batch-all-objects", "--batch"], {
    cwd: connected.base,
  });
  expect(objects.toString("latin1")).not.toContain("of the user");
});

test("the key alone is enough, and --read-only leaves commands out", async () => {
  const config = { commands: { allowlist: ["pwd"] } };
  await using connected = await connectStdio("executable", { config });
  expect(textOf(await connected.call("shell_exec", { command: "pwd" }))).toStartWith(connected.base);
  expect((await connected.call("shell_exec", { command: "ls" })).isError).toBe(true);
  await using reading = await connectStdio("executable", { config, args: ["--read-only"] });
  const { tools } = await reading.client.listTools();
  expect(tools.filter(({ name }) => name.startsWith("shell"))).toEqual([]);
  await using without = await connectStdio("executable");
  expect((await without.client.listTools()).tools).toHaveLength(golden.length);
});

test("with several roots, commands run in the first, and in cwd", async () => {
  await using connected = await connectStdio("executable", {
    tree: { "one/a.txt": "", "two/b.txt": "" },
    configure: (base) => ({
      base_path: undefined,
      roots: [
        { name: "one", path: join(base, "one") },
        { name: "two", path: join(base, "two"), read_only: true },
      ],
      commands: { allowlist: ["pwd", "touch"] },
    }),
  });
  const run = async (command: string, more = {}) =>
    textOf(await connected.call("shell_exec", { command, ...more }));
  expect(await run("pwd")).toStartWith(`${connected.base}/one\n`);
  expect(await run("pwd", { cwd: "two" })).toStartWith(`${connected.base}/two\n`);
});

test("over HTTP it is the same", async () => {
  await using served = await startHttp("executable", {
    tree,
    args: ["--http", "0", "--no-token", "--commands"],
  });
  const client = new Client({ name: "tests", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(served.url));
  const answer = await client.callTool({ name: "shell_exec", arguments: { command: "cat a.txt" } });
  expect(JSON.stringify(answer.content)).toContain("one\\n[exit code 0");
  await client.close();
});

test.each([
  [["--commands"], "--commands only goes with mcp; see coder --help"],
  [["mcp", "--allow", "sh"], "--allow only goes with --commands; see coder --help"],
  [
    ["mcp", "--commands", "--read-only"],
    "--commands does not go with --read-only, as commands change files; see",
  ],
  [["mcp", "--commands", "--allow", "sh,,git"], '--allow holds ""; give names of programs with commas'],
  [["mcp", "--worker", "shell", "--commands"], "--commands is for the worker coder; the worker shell has"],
])("%j is refused", async (args, sentence) => {
  const { code, stderr } = await runCoder("executable", args);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
});

test("the shell worker serves the current folder, unless that is the whole machine", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.txt"), "one\n");
  const [command, ...before] = commandOf("executable");
  const client = new Client({ name: "tests", version: "1.0.0" });
  const args = [...before, "mcp", "--worker", "shell"];
  await client.connect(new StdioClientTransport({ command, args, cwd: folder, stderr: "ignore" }));
  const answer = await client.callTool({ name: "shell_exec", arguments: { command: "cat a.txt" } });
  expect(JSON.stringify(answer.content)).toContain("one\\n[exit code 0");
  await client.close();
  const { code, stderr } = await runCoder("executable", ["mcp", "--worker", "shell"], { cwd: "/" });
  expect(code).toBe(1);
  expect(stderr).toContain("no folder is named, and the current one, /, is the whole machine");
  rmSync(folder, { recursive: true });
});
