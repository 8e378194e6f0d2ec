import { linkSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type CallToolResult, Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf, compilerOptions, type Subject, stateFolder } from "../harness/subject.ts";
import { buildTree, type Tree } from "../harness/tree.ts";
import { configFor } from "../harness/worker-fixture.ts";
import { waitUntilIdle } from "./idle.ts";

export interface McpFolderOptions {
  readonly tree?: Tree;
  /** Adds files to the base folder that `tree` cannot describe. */
  readonly fill?: (base: string) => void;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Returns configuration keys whose values contain the path of the base folder. */
  readonly configure?: (base: string) => Readonly<Record<string, unknown>>;
}

export interface ConnectOptions extends McpFolderOptions {
  readonly args?: readonly string[];
  readonly client?: ClientOptions;
  readonly env?: Readonly<Record<string, string>>;
  /** Maximum bytes of a message that the client accepts. The default suffices for all of these tests. */
  readonly maxBufferSize?: number;
}

/** A client of the official SDK, and a program that serves it a new folder on stdio. */
export interface McpFixture extends AsyncDisposable {
  readonly client: Client;
  readonly pid: number;
  /** The served folder. `root` is its parent. */
  readonly base: string;
  readonly root: string;
  /** Returns the log of the program so far. */
  stderr(): string;
  /** Resolves when the log matches. */
  waitForStderr(pattern: RegExp): Promise<void>;
  call(name: string, args: Record<string, unknown>): Promise<CallToolResult>;
  /** Connects another client with this name to another program that serves the same folder. */
  connectOther(name: string): Promise<OtherClient>;
}

/** Another client of the same folder. It is closed together with the first one. */
export type OtherClient = Pick<McpFixture, "client" | "call">;

export async function connectStdio(
  subject: Subject,
  { args = [], client: options, env = {}, maxBufferSize = 64 * 1024 * 1024, ...folder }: ConnectOptions = {},
): Promise<McpFixture> {
  const { root, base, file, remove } = makeMcpFolder(folder);
  const [command, ...before] = commandOf(subject);
  const state = stateFolder();
  const clients: Client[] = [];
  const connect = async (name: string) => {
    const transport = new StdioClientTransport({
      command,
      args: [...before, "mcp", "--config", file, ...args],
      stderr: "pipe",
      env: { ...compilerOptions, XDG_STATE_HOME: state, ...env },
      maxBufferSize,
    });
    const log = watchStderr(transport.stderr as Readable);
    const client = new Client({ name, version: "1.0.0" }, options);
    clients.push(client);
    await client.connect(transport);
    const call: McpFixture["call"] = (tool, given) =>
      client.callTool({ name: tool, arguments: given }) as Promise<CallToolResult>;
    return { transport, log, client, call };
  };
  const { transport, log, client, call } = await connect("tests");
  return {
    client,
    pid: transport.pid as number,
    base,
    root,
    ...log,
    call,
    connectOther: connect,
    async [Symbol.asyncDispose]() {
      for (const one of clients) await one.close();
      remove();
    },
  };
}

/** Makes a folder to serve, and a configuration file with its path. */
export function makeMcpFolder({ tree = {}, fill, config = {}, configure }: McpFolderOptions = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const settings = mkdtempSync(join(tmpdir(), "coder-"));
  buildTree(root, tree);
  const base = join(root, "base");
  fill?.(base);
  const file = join(settings, "config.yaml");
  writeFileSync(file, JSON.stringify({ ...configFor(base, config), ...configure?.(base) }));
  const remove = () => {
    for (const folder of [root, settings]) rmSync(folder, { recursive: true, force: true });
  };
  return { root, base, file, remove };
}

/** Collects the text that is written to `stream`. */
export function watchStderr(stream: Readable) {
  let text = "";
  const waiting = new Set<() => void>();
  stream.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    for (const check of waiting) check();
  });
  const waitForStderr = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!pattern.test(text)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { stderr: () => text, waitForStderr };
}

/** Returns the text of a result with a single block. */
export function textOf({ content }: CallToolResult): string {
  const [block, ...more] = content;
  if (block?.type !== "text" || more.length > 0) throw new Error("not one block of text");
  return block.text;
}

/** Removes the last line of an answer, the number of its checkpoint, which depends on earlier calls. */
export const withoutCheckpoint = (text: string): string => text.replace(/\n#\d+$/, "");

const endlessFiles = 6000;

/**
 * A folder whose search takes very long, for a regex without a literal to search for first. It has 6000 hard
 * links to one large file with a match in its last line.
 */
export const endlessSearch: McpFolderOptions = {
  tree: { f0: `${`${"x".repeat(79)}\n`.repeat(100_000)}xx!\n` },
  fill: (base) => {
    for (let count = 1; count < endlessFiles; count++) linkSync(join(base, "f0"), join(base, `f${count}`));
  },
  config: { call_timeout_ms: 600_000 },
};
export const slowSearch = {
  query: "(x+x+)+[^x]",
  regex: true,
  search_paths: false,
  max_matches: 2 * endlessFiles,
  max_bytes: 10_000_000,
};

/** Minimum bytes of a match in an answer. */
const matchBytes = 50;

/**
 * Resolves when `slowSearch` has ended and its program is idle. Throws if the search ran to its end, which
 * the size of its answer shows: it then has a match of each file.
 */
export async function untilSearchStopped(
  { waitForStderr, stderr }: Pick<McpFixture, "waitForStderr" | "stderr">,
  pid: number,
): Promise<void> {
  await waitForStderr(/"function":"coder::search"/);
  const line = stderr()
    .split("\n")
    .find((one) => one.includes('"function":"coder::search"'))!;
  const { bytes } = JSON.parse(line) as { readonly bytes: number };
  if (bytes > endlessFiles * matchBytes) throw new Error("the search was not stopped");
  await waitUntilIdle(pid);
}
