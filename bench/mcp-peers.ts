/**
 * Other MCP servers, each in its own process, with calls that have the effects of ours. Paths are absolute.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { workFolder } from "./corpus.ts";
import type { Peers } from "./peers.ts";
import { type McpServer, startMcp } from "./programs.ts";

export interface McpPeer extends AsyncDisposable {
  readonly name: string;
  readonly server: McpServer;
  readonly every?: number;
  read(path: string): Promise<unknown>;
  create(path: string, content: string): Promise<unknown>;
  /** Replaces text that occurs once in the file. */
  replace(path: string, from: string, to: string): Promise<unknown>;
}

/** Starts the MCP filesystem server under Node, its usual runtime. */
export async function startMcpFilesystem({ mcpFilesystem }: Peers, folder: string): Promise<McpPeer> {
  const server = await startMcp("node", [mcpFilesystem, folder]);
  return {
    name: "MCP filesystem server",
    server,
    read: (path) => server.call("read_text_file", { path }),
    create: (path, content) => server.call("write_file", { path, content }),
    replace: (path, oldText, newText) => server.call("edit_file", { path, edits: [{ oldText, newText }] }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export interface DesktopCommander extends McpPeer {
  /** Finds all lines that contain the text. */
  search(folder: string, text: string): Promise<void>;
}

/** Starts Desktop Commander under Node, its usual runtime, with the ripgrep of the other comparisons. */
export async function startDesktopCommander({ desktopCommander, rg }: Peers): Promise<DesktopCommander> {
  const home = join(workFolder, "desktop-commander");
  const settings = join(home, ".claude-server-commander");
  mkdirSync(settings, { recursive: true });
  writeFileSync(
    join(settings, "config.json"),
    JSON.stringify({ telemetryEnabled: false, allowedDirectories: [] }),
  );
  const server = await startMcp("node", [desktopCommander], {
    HOME: home,
    PATH: `${dirname(rg)}:${process.env.PATH}`,
    DESKTOP_COMMANDER_DISABLE_TELEMETRY: "1",
  });
  return {
    name: "Desktop Commander",
    server,
    // Its calls take a hundred milliseconds or more.
    every: 3,
    read: (path) => server.call("read_file", { path }),
    create: (path, content) => server.call("write_file", { path, content, mode: "rewrite" }),
    replace: (path, old_string, new_string) =>
      server.call("edit_block", { file_path: path, old_string, new_string }),
    async search(path, pattern) {
      const options = { searchType: "content", literalSearch: true, ignoreCase: false, contextLines: 0 };
      let text = textOf(await server.call("start_search", { path, pattern, ...options }));
      const sessionId = /session: (\S+)/.exec(text)![1];
      while (!text.includes("Search completed."))
        text = textOf(await server.call("get_more_search_results", { sessionId }));
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const textOf = (result: unknown): string =>
  (result as { readonly content: readonly { readonly text: string }[] }).content[0]!.text;
