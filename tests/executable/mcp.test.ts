import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Subprocess } from "bun";
import { type Artifact, type Artifacts, installArtifacts, startArtifact } from "./artifacts.ts";

const token = "a-token-of-the-tests";

let artifacts: Artifacts;

beforeAll(async () => {
  artifacts = await installArtifacts();
  mkdirSync(join(artifacts.folder, "base"));
  writeFileSync(join(artifacts.folder, "base/tea.txt"), "green\nblack\n");
});

afterAll(() => artifacts?.[Symbol.dispose]());

/** Returns the URL from the log line that reports the listening server. */
async function addressOf(server: Subprocess<"ignore", "pipe", "pipe">): Promise<URL> {
  let text = "";
  for await (const bytes of server.stderr) {
    text += new TextDecoder().decode(bytes);
    const url = text.match(/"message":"listening","url":"([^"]+)"/)?.[1];
    if (url !== undefined) return new URL(url);
  }
  throw new Error(`It ended before it listened: ${text}`);
}

async function readTea(client: Client): Promise<unknown> {
  const result = await client.callTool({ name: "coder_read_file", arguments: { path: "tea.txt" } });
  return (result as CallToolResult).content;
}

const tea = [{ type: "text", text: "green\nblack\n" }];

describe.each(["executable", "bundle"] as const)("the %s serves MCP", (name) => {
  let artifact: Artifact;

  beforeAll(() => {
    artifact = artifacts[name];
  });

  test("on stdio", async () => {
    const [command = "", ...before] = artifact.command;
    const args = [...before, "mcp", "--base-path", "base"];
    const client = new Client({ name: "tests", version: "1.0.0" });
    await client.connect(
      new StdioClientTransport({ command, args, cwd: artifacts.folder, stderr: "ignore" }),
    );
    expect(await readTea(client)).toEqual(tea);
    await client.close();
  });

  test("over HTTP, to clients of both kinds, to whom it belongs", async () => {
    const server = startArtifact(artifact, ["mcp", "--base-path", "base", "--http", "0"], {
      cwd: artifacts.folder,
      env: { CODER_TOKEN: token },
    });
    try {
      const url = await addressOf(server);
      const headers = { authorization: `Bearer ${token}` };
      for (const options of [{}, { versionNegotiation: { mode: "auto" } }] as const) {
        const client = new Client({ name: "tests", version: "1.0.0" }, options);
        await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
        expect(await readTea(client)).toEqual(tea);
        await client.close();
      }
      const status = async (given: Record<string, string>) =>
        (await fetch(url, { method: "POST", headers: given, body: "{}" })).status;
      expect(await status({ origin: "https://evil.example", ...headers })).toBe(403);
      expect(await status({})).toBe(401);
      server.kill("SIGTERM");
      expect(await server.exited).toBe(0);
    } finally {
      server.kill("SIGKILL");
    }
  });
});
