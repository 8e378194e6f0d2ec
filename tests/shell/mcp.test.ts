import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf, defaultSubjects } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { readPid, waitForExit } from "./alive.ts";
import golden from "./shell-0.3.5.golden.json" with { type: "json" };

const folder = temporaryFolder();
const file = join(folder, "shell.yaml");
writeFileSync(file, JSON.stringify({ fs: { host_root: folder }, working_dir: folder }));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(defaultSubjects)("%s", (subject) => {
  const client = new Client({ name: "tests", version: "1.0.0" });
  const call = (name: string, given: Record<string, unknown>) =>
    client.callTool({ name, arguments: given }) as Promise<CallToolResult>;

  beforeAll(async () => {
    const [command, ...before] = commandOf(subject);
    const args = [...before, "mcp", "--worker", "shell", "--config", file, "--structured", "--tools", "all"];
    await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  });

  afterAll(() => client.close());

  test("the functions that need no channel are tools, and there are no resources", async () => {
    const { tools } = await client.listTools();
    const names = golden.functions.map(({ name }) => name.replaceAll("::", "_"));
    const overChannels = ["shell_fs_read", "shell_fs_write"];
    expect(tools.map(({ name }) => name)).toEqual(names.filter((name) => !overChannels.includes(name)));
    expect(JSON.stringify(tools.map(({ inputSchema }) => inputSchema))).not.toMatch(/channel|target/);
    expect(client.getServerVersion()).toMatchObject({ name: "shell" });
    expect(client.getServerCapabilities()).not.toHaveProperty("resources");
  });

  const shared = "goes through a symbolic link";
  test.each([
    ["ls", { path: "f" }, '"<name>/f" is not a folder; name a folder, or look at a file with shell_fs_stat.'],
    [
      "sed",
      { files: ["d"], pattern: "x", replacement: "y" },
      "is not a regular file; list a folder with shell_fs_ls",
    ],
    ["sed", { files: ["f"], pattern: "x", replacement: "y" }, "make it writable first, with shell_fs_chmod."],
    [
      "chmod",
      { path: "inner", mode: "0755", recursive: true },
      "is a link, and a recursive shell_fs_chmod goes",
    ],
    ["stat", { path: "dangling" }, `"<name>/dangling" ${shared} whose target is missing`],
    ["ls", { path: "outer" }, `"<name>/outer" ${shared} that leads out of the served folder`],
    ["ls", { path: "up/x" }, `"<name>/up/x" ${shared} that leads out of the served folder`],
    ["stat", { path: "loop" }, "goes through symbolic links that lead to each other"],
    ["stat", { path: "../.." }, 'The path "<name>/../.." leaves the base folder'],
  ])("%s of %j is refused for its own reason, with functions that are offered", async (op, payload, text) => {
    const name = "kinds";
    const at = (path: string) => join(folder, name, path);
    mkdirSync(at("d"), { recursive: true });
    writeFileSync(at("f"), "x\n", { mode: 0o444 });
    const links = { dangling: "nowhere", outer: "/etc", up: "../../..", loop: "loop", inner: "d" };
    for (const [link, target] of Object.entries(links)) symlinkSync(target, at(link));
    try {
      const named = JSON.parse(JSON.stringify(payload), (key, value) =>
        key === "path" || (/^\d+$/.test(key) && typeof value === "string") ? `${name}/${value}` : value,
      );
      const { tools } = await client.listTools();
      const answer = await call(`shell_fs_${op}`, named);
      expect(answer.isError).toBe(true);
      const said = JSON.stringify(answer.content).replaceAll('\\\\\\"', '"').replaceAll('\\"', '"');
      expect(said).toContain(text.replaceAll("<name>", name));
      expect(said).not.toContain(folder);
      const offered = new Set(tools.map((tool) => tool.name));
      for (const tool of said.match(/\b(?:coder|shell)_\w+/g) ?? []) expect(offered).toContain(tool);
    } finally {
      rmSync(at(""), { recursive: true });
    }
  });

  test("without --tools all, those on files are not there", async () => {
    const [command, ...before] = commandOf(subject);
    const args = [...before, "mcp", "--worker", "shell", "--config", file];
    const other = new Client({ name: "tests", version: "1.0.0" });
    await other.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
    const { tools } = await other.listTools();
    await other.close();
    expect(tools.map(({ name }) => name)).toEqual([
      "shell_exec",
      "shell_exec_bg",
      "shell_kill",
      "shell_status",
      "shell_list",
    ]);
    expect(JSON.stringify({ tools }).length).toBeLessThan(4000);
    expect(JSON.stringify(tools)).not.toMatch(/::|sandbox|crate|channel/);
  });

  test("with --read-only, what cannot change anything is there", async () => {
    const [command, ...before] = commandOf(subject);
    const args = [...before, "mcp", "--worker", "shell", "--read-only", "--config", file];
    const reader = new Client({ name: "tests", version: "1.0.0" });
    await reader.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
    const names = (await reader.listTools()).tools.map(({ name }) => name);
    await reader.close();
    const reading = ["list", "status"];
    expect(names.sort()).toEqual(reading.map((name) => `shell_${name}`));
  });

  test("what a call can do is declared truly", async () => {
    const { tools } = await client.listTools();
    const hints = Object.fromEntries(
      tools.map(({ name, annotations }) => [
        name,
        Object.keys(annotations ?? {}).filter(
          (hint) => annotations?.[hint as keyof typeof annotations] === true,
        ),
      ]),
    );
    const [reads, replaces, repeatable] = ["readOnlyHint", "destructiveHint", "idempotentHint"];
    expect(hints).toEqual({
      shell_exec: [replaces, "openWorldHint"],
      shell_exec_bg: [replaces, "openWorldHint"],
      shell_kill: [replaces, repeatable],
      shell_list: [reads],
      shell_status: [reads],
      shell_fs_chmod: [replaces, repeatable],
      shell_fs_grep: [reads],
      shell_fs_ls: [reads],
      shell_fs_mkdir: [],
      shell_fs_mv: [replaces],
      shell_fs_rm: [replaces],
      shell_fs_sed: [replaces],
      shell_fs_stat: [reads],
    });
  });

  test("a command that fails is an answer, in words and in fields", async () => {
    const answer = await call("shell_exec", { command: "ls", args: ["missing"] });
    expect(answer).toMatchObject({
      structuredContent: { exit_code: 2, stdout: "" },
      content: [
        { type: "text", text: expect.stringMatching(/^\[stderr\]\nls: .*\n\[exit code 2, \d+ ms\]$/s) },
      ],
    });
    expect(answer.isError).not.toBe(true);
  });

  test("a refusal is a sentence", async () => {
    expect(await call("shell_exec", { command: "nmap" })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringContaining("not in allowlist") }],
    });
  });

  test("a job is started, listed and ended", async () => {
    const started = await call("shell_exec_bg", { command: "tail", args: ["-f", "shell.yaml"] });
    const { job_id } = started.structuredContent as { job_id: string };
    expect(await call("shell_list", {})).toMatchObject({ structuredContent: { count: 1 } });
    expect(await call("shell_kill", { job_id })).toMatchObject({ structuredContent: { killed: true } });
  });

  test.each([
    ["call is cancelled", (cancel: AbortController) => cancel.abort("enough")],
    ["client has gone", (_: AbortController, other: Client) => other.close()],
  ])("a command ends when its %s", async (_, end) => {
    const [command, ...before] = commandOf(subject);
    const [config, written] = [join(folder, "with-sh.yaml"), join(folder, "pid")];
    const settings = { fs: { host_root: folder }, working_dir: folder, allowlist: ["sh"] };
    writeFileSync(config, JSON.stringify(settings));
    rmSync(written, { force: true });
    const args = [...before, "mcp", "--worker", "shell", "--config", config];
    const other = new Client({ name: "tests", version: "1.0.0" });
    await other.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
    const cancel = new AbortController();
    const running = { command: "sh", args: ["-c", "echo $$ > pid; sleep 1000"] };
    const called = other.callTool({ name: "shell_exec", arguments: running }, { signal: cancel.signal });
    void called.catch(() => {});
    const pid = await readPid(written);
    await end(cancel, other);
    await waitForExit(pid);
    await other.close();
  });

  test("a client that asks for progress is shown what a command writes", async () => {
    const [command, ...before] = commandOf(subject);
    const [config, go] = [join(folder, "progress.yaml"), join(folder, "go")];
    rmSync(go, { force: true });
    writeFileSync(
      config,
      JSON.stringify({ fs: { host_root: folder }, working_dir: folder, allowlist: ["sh"] }),
    );
    const args = [...before, "mcp", "--worker", "shell", "--config", config];
    const other = new Client({ name: "tests", version: "1.0.0" });
    await other.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
    const messages: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => {
      messages.push(message);
      writeFileSync(go, "");
    };
    const running = {
      command: "sh",
      args: ["-c", "echo one; until [ -e go ]; do sleep 0.01; done; echo two"],
    };
    const answer = await other.callTool({ name: "shell_exec", arguments: running }, { onprogress });
    expect(answer.content).toEqual([
      {
        type: "text",
        text: expect.stringMatching(/^one\ntwo\n(\[changed while it ran: .*\]\n)?\[exit code 0, .* m?s\]$/),
      },
    ]);
    expect(messages[0]).toBe("one");
    await other.close();
  });

  test.each(["shell_fs_read", "shell_fs_write"])("%s, which needs a channel, is not there", async (name) => {
    const failed = await call(name, { path: file }).catch((error: Error) => error.message);
    expect(failed).toContain("There is no tool");
  });
});

describe("what would fill a model's context", () => {
  const client = new Client({ name: "tests", version: "1.0.0" });
  const config = join(folder, "floods.yaml");
  const call = (name: string, given: Record<string, unknown>) =>
    client.callTool({ name, arguments: given }) as Promise<CallToolResult>;
  const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text;
  const sh = (script: string) => ({ command: "sh", args: ["-c", script] });

  beforeAll(async () => {
    writeFileSync(
      config,
      JSON.stringify({
        fs: { host_root: folder },
        working_dir: folder,
        allowlist: ["sh"],
        max_job_output_bytes: 1024 * 1024,
      }),
    );
    const [command, ...before] = commandOf("source");
    const args = [...before, "mcp", "--worker", "shell", "--config", config];
    await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  });

  afterAll(() => client.close());

  const numbered = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo line $i; done";

  test("of an output the beginning and the end are kept, in whole lines, and the gap is said once", async () => {
    const text = textOf(await call("shell_exec", sh(`${numbered}; echo the error; exit 3`)));
    expect(Buffer.byteLength(text)).toBeLessThan(16_384 + 200);
    expect(Buffer.byteLength(text)).toBeGreaterThan(16_000);
    expect(text).toStartWith("line 1\nline 2\n");
    expect(text).toMatch(
      /\nline 30000\nthe error\n\[exit code 3, .* m?s; all of the output: shell_status with job_id "job-\d+" and grep or since\]$/,
    );
    expect(text).not.toContain("[cut:");
    const [, last, bytes, next] = /\nline (\d+)\n\[(\d+) bytes left out\]\nline (\d+)\n/.exec(text)!;
    const missing = Array.from({ length: Number(next) - Number(last) - 1 }, (_, i) => Number(last) + 1 + i);
    expect(missing.map((n) => `line ${n}\n`).join("")).toHaveLength(Number(bytes));
  });

  test("both outputs are bounded, and what is asked for holds", async () => {
    const given = { ...sh("printf '%0200000d\\n' 1 2 >&2; seq 9999"), max_output_bytes: 1000 };
    const text = textOf(await call("shell_exec", given));
    expect(text.length).toBeLessThan(2200);
    expect(text.match(/bytes left out/g)).toHaveLength(2);
  });

  test("what was cut is kept, in pages and by lines that match", async () => {
    const ended = textOf(await call("shell_exec", sh(`${numbered}; echo the error >&2; exit 3`)));
    const job_id = /"(job-\d+)"/.exec(ended)![1]!;
    const found = textOf(await call("shell_status", { job_id, grep: "^(the error|line 15000)$" }));
    expect(found).toMatch(
      /^14998-line 14998\n14999-line 14999\n15000→line 15000\n15001-line 15001\n15002-line 15002\n--\n/,
    );
    expect(found).toMatch(/\d+→the error\n/);
    expect(found).toMatch(/\n\[job-\d+: exit code 3 after .* m?s; 2 lines match\]$/);
    let pages = "";
    for (let since: string | undefined = "1"; since !== undefined; ) {
      const page = textOf(
        await call("shell_status", { job_id, since: Number(since), max_output_bytes: 60_000 }),
      );
      const [, text, next] = /^([\s\S]*\n)\[job-\d+: .*?(?:more: since (\d+))?\]$/.exec(page)!;
      pages += text;
      since = next;
    }
    expect(pages.split("\n").filter((line) => line.startsWith("line"))).toHaveLength(30_000);
    const last = textOf(await call("shell_status", { job_id, tail_lines: 2, max_output_bytes: 1000 }));
    expect(last.split("\n")).toHaveLength(4);
  });

  test("of a long line, the notes lead to every byte, and the end is shown first", async () => {
    const script = "i=0; while [ $i -lt 9000 ]; do i=$((i+1)); printf '%d,' $i; done; echo end; echo last";
    const whole = `${Array.from({ length: 9000 }, (_, index) => `${index + 1},`).join("")}end\nlast\n`;
    const ended = textOf(await call("shell_exec", { ...sh(script), max_output_bytes: 1000 }));
    const job_id = /all of the output: shell_status with job_id "(job-\d+)"/.exec(ended)![1]!;
    let pages = "";
    for (let more: object | undefined = { since: 1 }; more !== undefined; ) {
      const page = textOf(await call("shell_status", { job_id, ...more }));
      const [, text, notes] = /^([\s\S]*\n)\[(job-\d+: .*)\]$/.exec(page)!;
      const rest = /line 1 is cut: since (\d+) and since_byte (\d+) for its rest/.exec(notes!);
      pages += rest ? text!.slice(0, -2) : text;
      more = rest ? { since: Number(rest[1]), since_byte: Number(rest[2]) } : undefined;
    }
    expect(pages).toBe(whole);
    const tail = { job_id, tail_lines: 1, max_output_bytes: 1000 };
    const short = textOf(
      await call("shell_exec", { ...sh(script.replace("; echo last", "")), max_output_bytes: 1000 }),
    );
    const last = textOf(await call("shell_status", { ...tail, job_id: /"(job-\d+)"/.exec(short)![1] }));
    expect(last).toMatch(
      /^\[\d+ bytes of line 1 before: since 1, or grep\]\n…[\d,]{997}end\n\[job-\d+: exit code 0 after .* m?s\]$/,
    );
    for (const wrong of [{ since_byte: 5 }, { since: 1, since_byte: 5, tail_lines: 1 }])
      expect(await call("shell_status", { job_id, ...wrong })).toMatchObject({ isError: true });
  });

  test("of an output that is too long to be kept, the answer names the first line that is", async () => {
    const text = textOf(await call("shell_exec", sh("seq 300000")));
    const note =
      /; the output from line (\d+) on, all that is kept: shell_status with job_id "(job-\d+)" and/;
    const [, first, job_id] = note.exec(text)!;
    expect(text).not.toContain("all of the output");
    expect(textOf(await call("shell_status", { job_id, since: Number(first) }))).toStartWith(`${first}\n`);
    expect(textOf(await call("shell_status", { job_id, since: Number(first) - 1 }))).toStartWith(
      `[lines before ${first} are no longer kept]\n${first}\n`,
    );
  });

  test("a job is followed from line to line, and to its end", async () => {
    const [go, on] = ["go-1", "go-2"].map((name) => join(folder, name)) as [string, string];
    for (const file of [go, on]) rmSync(file, { force: true });
    const until = (name: string) => `until [ -e ${name} ]; do sleep 0.01; done`;
    const script = `echo one; echo two >&2; ${until("go-1")}; printf 'name? '; ${until("go-2")}; echo; exit 4`;
    const started = textOf(await call("shell_exec_bg", { ...sh(script), start_ms: 1 }));
    const [, job_id] = /\[(job-\d+): running for \d+ ms; go on with since \d+\]$/.exec(started)!;
    const follow = async (more: object) => textOf(await call("shell_status", { job_id, ...more }));
    expect(await follow({ wait_for: "^two$" })).toMatch(
      /^one\ntwo\n\[job-\d+: running for .*; line 2 matches "\^two\$"; go on with since 3\]$/,
    );
    expect(await follow({ wait_for: "three", wait_ms: 10 })).toContain('; no line matches "three"; go on');
    writeFileSync(go, "");
    expect(await follow({ since: 3, wait_for: "\\? $" })).toMatch(/^name\? \n\[job-\d+: running for /);
    expect(await follow({ since: 3, wait_ms: 1 })).toMatch(/^name\? \n\[job-\d+: running for /);
    writeFileSync(on, "");
    expect(await follow({ since: 3, wait_ms: 30_000 })).toMatch(
      /^name\? \n(\[changed while it ran: .*\]\n)?\[job-\d+: exit code 4 after .*s\]$/,
    );
    expect(await follow({ since: 5 })).toMatch(
      /^\[no output since line 5\]\n(\[changed while it ran: .*\]\n)?\[job-\d+: exit code 4 after .*s\]$/,
    );
  });

  test("a job that ends at once is answered as ended, with what it wrote", async () => {
    const text = textOf(
      await call("shell_exec_bg", { ...sh("echo no such file >&2; exit 2"), start_ms: 30_000 }),
    );
    expect(text).toMatch(/^no such file\n\[job-\d+: exit code 2 after \d+ ms\]$/);
  });

  test("the list has command lines, and ending what has ended says how it did", async () => {
    const started = await call("shell_exec_bg", { ...sh("kill -SEGV $$"), start_ms: 30_000 });
    const job_id = /job-\d+/.exec(textOf(started))![0];
    expect(textOf(await call("shell_list", {}))).toMatch(
      new RegExp(`^${job_id}  ended by SIGSEGV after \\d+ ms  sh -c "kill -SEGV \\$\\$"$`, "m"),
    );
    expect(textOf(await call("shell_kill", { job_id }))).toMatch(
      /^\[job-\d+ had ended already: ended by SIGSEGV after \d+ ms\]$/,
    );
    const running = /job-\d+/.exec(textOf(await call("shell_exec_bg", sh("exec sleep 1000"))))![0];
    expect(textOf(await call("shell_kill", { job_id: running }))).toMatch(
      /^\[job-\d+: killed \(SIGTERM\) after .*s\]$/,
    );
  });

  test("a job has the id that its caller chooses, once", async () => {
    const command = { ...sh("exit 0"), job_id: "build of today", start_ms: 30_000 };
    expect(textOf(await call("shell_exec_bg", command))).toMatch(
      /^\[no output\]\n\[build of today: exit code 0/,
    );
    const again = await call("shell_exec_bg", command);
    expect(again.isError).toBe(true);
    expect(textOf(again)).toStartWith(
      "job_id: a job with the id build of today already exists. Choose another one, such as build of today-2, or",
    );
    expect((await call("shell_exec_bg", { ...command, job_id: "a\nb" })).isError).toBe(true);
  });
});
