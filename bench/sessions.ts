/**
 * Sessions of MCP, each a process of its own: until the tools are listed, the first search without and with an index
 * that an earlier session saved, and the memory after some calls.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Comparison, ExternalCost } from "./comparison.ts";
import { workFolder } from "./corpus.ts";
import { makeWorkFolder } from "./disk.ts";
import {
  type McpServer,
  startMcpFilesystem,
  startMcpServer,
  startMcpWith,
  writeSettings,
} from "./programs.ts";
import { queryNamed, ripgrepInTree, type SearchTree } from "./searches.ts";

const group = "a session of MCP";

/** From the start of a process until it has listed its tools. */
export function startsOfSessions(mcpFilesystem: string): Comparison {
  const folder = makeWorkFolder("session");
  const list = async (start: () => Promise<McpServer>) => {
    const started = performance.now();
    await using server = await start();
    await server.listTools();
    return new ExternalCost(0, performance.now() - started);
  };
  return {
    group,
    name: "from its start to the list of tools",
    ours: () => list(() => startMcpServer(folder)),
    peers: [
      {
        name: "MCP filesystem server",
        target: 0.5,
        run: () => list(() => startMcpFilesystem(mcpFilesystem, folder)),
      },
    ],
  };
}

/**
 * Milliseconds between the list of tools and the first search: no model answers sooner than the first, and few
 * sooner than the second.
 */
const patience = { least: 300, usual: 1000 } as const;

/** The first search of a process, timed without its start, against ripgrep with its own. */
export async function firstSearches(tree: SearchTree): Promise<Comparison[]> {
  const state = join(workFolder, `sessions-${tree.name}`);
  rmSync(state, { recursive: true, force: true });
  mkdirSync(state);
  // A saved index is one of a configuration: it also depends on what that denies.
  const config = writeSettings(tree.folder, {});
  await saveIndex(config, state);
  const query = queryNamed("rare");
  const compare = (
    name: string,
    used: string,
    target: number,
    milliseconds: number = patience.least,
  ): Comparison => ({
    group,
    name: `${name}, ${tree.name}`,
    ours: async () => {
      await using server = await startMcpWith(used, { XDG_STATE_HOME: state });
      await server.listTools();
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      const started = performance.now();
      await server.call("coder_search", { query: query.query });
      return new ExternalCost(0, performance.now() - started);
    },
    peers: [{ name: "rg -j2", target, run: () => ripgrepInTree(tree, query, ["-j2"]) }],
  });
  return [
    compare("the first search of the first session", writeSettings(tree.folder, { index_saved: "off" }), 1),
    compare("the first search of the second session", config, 0.5),
    compare("the first search of the second session, 1 s after the tools", config, 0.5, patience.usual),
  ];
}

/** Has a session search until its index is saved. */
async function saveIndex(config: string, state: string): Promise<void> {
  await using server = await startMcpWith(config, { XDG_STATE_HOME: state });
  await server.call("coder_search", { query: "absent" });
  const saved = () =>
    existsSync(state) &&
    readdirSync(state, { recursive: true, encoding: "utf8" }).some((name) => name.endsWith(".index"));
  for (const ends = performance.now() + 60_000; !saved(); ) {
    if (performance.now() > ends) throw new Error(`no index was saved with ${config}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** The resident memory of the process, in mebibytes, with its share of pages that others map too. */
export function memoryOfSessions(mcpFilesystem: string): Comparison {
  const folder = makeWorkFolder("session-memory");
  const measure = async (
    server: McpServer,
    read: string,
    edit: string,
    edits: (from: string, to: string) => object,
  ) => {
    const path = join(folder, "a.txt");
    writeFileSync(path, "one\ntwo\n");
    for (let turn = 0; turn < 20; turn++) {
      await server.call(read, { path });
      const [from, to] = turn % 2 === 0 ? ["one", "three"] : ["three", "one"];
      await server.call(edit, { path, ...edits(from!, to!) });
    }
    const found = /^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/smaps_rollup`, "utf8"));
    return new ExternalCost(0, Number(found![1]) / 1024);
  };
  return {
    group,
    name: "resident memory after 20 reads and edits (MB, not ms)",
    ours: async () => {
      await using server = await startMcpServer(folder);
      return await measure(server, "coder_read_file", "coder_update_file", (from, to) => ({
        ops: [{ op: "str_replace", old_str: from, new_str: to }],
      }));
    },
    peers: [
      {
        name: "MCP filesystem server",
        target: 1,
        run: async () => {
          await using server = await startMcpFilesystem(mcpFilesystem, folder);
          return await measure(server, "read_text_file", "edit_file", (oldText, newText) => ({
            edits: [{ oldText, newText }],
          }));
        },
      },
    ],
  };
}
