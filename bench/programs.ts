/** Starts the executable and other servers as separate processes, with a client for each one's protocol. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type IIIClient, registerWorker } from "iii-sdk";
import { executable } from "../scripts/build.ts";

export type Settings = Readonly<Record<string, unknown>>;

/** A process that answers calls. */
export interface Server extends AsyncDisposable {
  call(name: string, payload: Readonly<Record<string, unknown>>): Promise<unknown>;
}

export interface BusServer extends Server {
  readonly child: ChildProcess;
  readonly url: string;
}

export interface McpServer extends Server {
  listTools(): Promise<unknown>;
  readonly pid: number;
}

/** Starts `dist/coder` with its embedded engine, and connects a client of the official SDK. */
export async function startBusServer(folder: string, settings: Settings = {}): Promise<BusServer> {
  const config = writeSettings(folder, settings);
  const child = spawn(executable, ["--config", config, "--engine", "embedded:0"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url = await addressIn(child);
  const client = openClient(url);
  return {
    child,
    url,
    call: (name, payload) => client.trigger({ function_id: name, payload, timeoutMs: 60_000 }),
    async [Symbol.asyncDispose]() {
      await client.shutdown();
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Starts `dist/coder mcp` on standard input and output. */
export const startMcpServer = (
  folder: string,
  settings: Settings = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<McpServer> => startMcpWith(writeSettings(folder, settings), environment);

/** Like `startMcpServer`, but with the path of a configuration, which several servers can share. */
export const startMcpWith = (
  config: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<McpServer> =>
  startMcp(executable, ["mcp", "--config", config, "--log-level", "error"], environment);

/** More bytes than any message of the benchmarks has. */
const maxBufferSize = 64 * 1024 * 1024;

/** Starts an MCP server on standard input and output. */
export async function startMcp(
  command: string,
  args: string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<McpServer> {
  const env = { ...getDefaultEnvironment(), ...environment };
  const transport = new StdioClientTransport({ command, args, env, stderr: "ignore", maxBufferSize });
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(transport);
  return {
    async call(name, payload) {
      const result = await client.callTool({ name, arguments: payload });
      if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content)}`);
      return result;
    },
    listTools: () => client.listTools(),
    pid: transport.pid!,
    [Symbol.asyncDispose]: () => client.close(),
  };
}

let settingsWritten = 0;

/** Writes a configuration beside the folder, where no call can reach it. Returns its path. */
export function writeSettings(folder: string, settings: Settings): string {
  const file = `${folder}.${settingsWritten++}.yaml`;
  writeFileSync(file, JSON.stringify({ base_path: folder, ...settings }));
  return file;
}

/** Connects a client of the official SDK. */
export function openClient(url: string): IIIClient {
  console.debug = () => undefined; // the SDK prints a banner on stdout
  return registerWorker(url, {
    workerName: "bench",
    otel: { enabled: false },
    enableMetricsReporting: false,
  });
}

/**
 * Resolves to the address in the program's log. Reads its later lines too, since a full pipe would block it.
 */
function addressIn(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stderr! }).on("line", (line) => {
      const { message, url } = JSON.parse(line) as { message: string; url?: string };
      if ((message === "engine listening" || message === "serving") && url !== undefined) resolve(url);
    });
    child.once("exit", (code) => reject(new Error(`the executable ended with ${code} before it served`)));
  });
}
