import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { temporaryFolder } from "../conformance/served.ts";
import { commandOf, subjects } from "../conformance/subject.ts";
import golden from "./shell-0.3.5.golden.json" with { type: "json" };

setDefaultTimeout(20_000);

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
    const args = [...before, "mcp", "--worker", "shell", "--config", file];
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

  test("there are no channels, and the error says so", async () => {
    expect(await call("shell_fs_read", { path: file })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(/S216.*bus/) }],
    });
  });
});
