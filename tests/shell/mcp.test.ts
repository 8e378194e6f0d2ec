import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf, subjects } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { readPid, waitForExit } from "./alive.ts";
import { waitFor } from "./case.ts";
import golden from "./shell-0.3.5.golden.json" with { type: "json" };

const folder = temporaryFolder();
const file = join(folder, "shell.yaml");
writeFileSync(file, JSON.stringify({ fs: { host_root: folder }, working_dir: folder }));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(subjects)("%s", (subject) => {
  const client = new Client({ name: "tests", version: "1.0.0" });
  const call = (name: string, given: Record<string, unknown>) =>
    client.callTool({ name, arguments: given }) as Promise<CallToolResult>;

  beforeAll(async () => {
    const [command, ...before] = commandOf(subject);
    const args = [...before, "mcp", "--worker", "shell", "--config", file, "--structured"];
    await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  });

  afterAll(() => client.close());

  test("the functions that need no channel are tools, and there are no resources", async () => {
    const { tools } = await client.listTools();
    const names = golden.functions.map(({ name }) => name.replaceAll("::", "_"));
    const overChannels = ["shell_fs_read", "shell_fs_write"];
    expect(tools.map(({ name }) => name)).toEqual(names.filter((name) => !overChannels.includes(name)));
    expect(JSON.stringify(tools.map(({ inputSchema }) => inputSchema))).not.toContain("channel");
    expect(client.getServerVersion()).toMatchObject({ name: "shell" });
    expect(client.getServerCapabilities()).not.toHaveProperty("resources");
  });

  test("with --read-only, what cannot change anything is there", async () => {
    const [command, ...before] = commandOf(subject);
    const args = [...before, "mcp", "--worker", "shell", "--read-only", "--config", file];
    const reader = new Client({ name: "tests", version: "1.0.0" });
    await reader.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
    const names = (await reader.listTools()).tools.map(({ name }) => name);
    await reader.close();
    const reading = ["fs_grep", "fs_ls", "fs_stat", "list", "status"];
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
      content: [{ type: "text", text: expect.stringMatching(/^\[stderr\]\nls: .*\n\[exit code 2\]$/s) }],
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
    expect(answer.content).toEqual([{ type: "text", text: "one\ntwo\n[exit code 0]" }]);
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
      JSON.stringify({ fs: { host_root: folder }, working_dir: folder, allowlist: ["sh"] }),
    );
    const [command, ...before] = commandOf("source");
    const args = [...before, "mcp", "--worker", "shell", "--config", config];
    await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  });

  afterAll(() => client.close());

  const numbered = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo line $i; done";

  test("of an output the beginning and the end are kept, in whole lines, and the gap is said once", async () => {
    const text = textOf(await call("shell_exec", sh(`${numbered}; echo the error; exit 3`)));
    expect(Buffer.byteLength(text)).toBeLessThan(65_536 + 100);
    expect(Buffer.byteLength(text)).toBeGreaterThan(65_000);
    expect(text).toStartWith("line 1\nline 2\n");
    expect(text).toEndWith("\nline 30000\nthe error\n[exit code 3]");
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

  test("the newest output of a running job is shown", async () => {
    const go = join(folder, "go-on");
    rmSync(go, { force: true });
    const started = await call(
      "shell_exec_bg",
      sh(`${numbered}; echo listening >&2; until [ -e go-on ]; do sleep 0.01; done; echo end`),
    );
    const { job_id } = JSON.parse(textOf(started)) as { job_id: string };
    const status = async () => JSON.parse(textOf(await call("shell_status", { job_id }))).job;
    const until = (isDone: (job: { [key: string]: string }) => boolean) =>
      waitFor(async () => {
        const job = await status();
        return isDone(job) ? job : undefined;
      });
    expect(await until(({ stderr }) => stderr !== "")).toMatchObject({
      status: "running",
      exit_code: null,
      stderr: "listening\n",
    });
    const { stdout } = await until(({ stdout }) => stdout!.endsWith("line 30000\n"));
    expect(stdout.length).toBeLessThan(65_536 + 100);
    expect(stdout).toStartWith("line 1\n");
    writeFileSync(go, "");
    expect(await until((job) => job["status"] !== "running")).toMatchObject({
      status: "finished",
      stdout: expect.stringMatching(/\nline 30000\nend\n$/),
      stdout_truncated: true,
    });
  });
});
