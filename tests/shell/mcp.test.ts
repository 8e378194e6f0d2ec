import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf, subjects } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { readPid, waitForExit } from "./alive.ts";
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

  test("the functions are tools, and there are no resources", async () => {
    const { tools } = await client.listTools();
    const names = golden.functions.map(({ name }) => name.replaceAll("::", "_"));
    expect(tools.map(({ name }) => name)).toEqual(names);
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
    const reading = ["fs_grep", "fs_ls", "fs_read", "fs_stat", "list", "status"];
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
      shell_list: [reads, repeatable],
      shell_status: [reads, repeatable],
      shell_fs_chmod: [replaces, repeatable],
      shell_fs_grep: [reads, repeatable],
      shell_fs_ls: [reads, repeatable],
      shell_fs_mkdir: [],
      shell_fs_mv: [replaces],
      shell_fs_read: [reads, repeatable],
      shell_fs_rm: [replaces],
      shell_fs_sed: [replaces],
      shell_fs_stat: [reads, repeatable],
      shell_fs_write: [replaces],
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

  test("there are no channels, and the error says so", async () => {
    expect(await call("shell_fs_read", { path: file })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(/S216.*bus/) }],
    });
  });
});
