/**
 * Compares sessions of MCP, each in a process of its own: the start up to the list of tools, the first search
 * with and without an index saved by an earlier session, and the memory after some calls.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Comparison, ExternalCost } from "./comparison.ts";
import { workFolder } from "./corpus.ts";
import { makeWorkFolder } from "./disk.ts";
import { type McpPeer, startDesktopCommander, startMcpFilesystem } from "./mcp-peers.ts";
import type { Peers } from "./peers.ts";
import { type McpServer, startMcpServer, startMcpWith, writeSettings } from "./programs.ts";
import { queryNamed, ripgrepInTree, type SearchTree } from "./searches.ts";

const group = "a session of MCP";

/** Compares the times from the start of a process until it has listed its tools. */
export function startsOfSessions(peers: Peers): Comparison {
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
        run: () => list(async () => (await startMcpFilesystem(peers, folder)).server),
      },
      {
        name: "Desktop Commander",
        target: 0.5,
        run: () => list(async () => (await startDesktopCommander(peers)).server),
      },
    ],
  };
}

/**
 * Milliseconds between the list of tools and the first search. No model answers sooner than `least`, and few
 * answer sooner than `usual`.
 */
const patience = { least: 300, usual: 1000 } as const;

/** Compares the first search of a process, without its start, with a run of ripgrep including its start. */
export async function firstSearches(tree: SearchTree): Promise<Comparison[]> {
  const state = join(workFolder, `sessions-${tree.name}`);
  rmSync(state, { recursive: true, force: true });
  mkdirSync(state);
  // A saved index belongs to one configuration, because it also depends on the denied globs.
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

/** Searches in a session until its index is saved. */
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

/** A session of ours or of a peer whose memory is measured. */
type Session = Pick<McpPeer, "server" | "read" | "replace">;

type Start = () => Promise<Session>;

/** Compares the memory after some reads and edits, in megabytes. */
export function memoryOfSessions(peers: Peers): Comparison[] {
  const folder = makeWorkFolder("session-memory");
  const file = join(folder, "a.txt");
  const ours = async (): Promise<Session> => {
    const server = await startMcpServer(folder);
    return {
      server,
      read: (path) => server.call("coder_read_file", { path }),
      replace: (path, old_str, new_str) =>
        server.call("coder_update_file", { path, ops: [{ op: "str_replace", old_str, new_str }] }),
    };
  };
  const reference = () => startMcpFilesystem(peers, folder);
  const commander = () => startDesktopCommander(peers);
  const sizeOf = async (start: Start, { sessions, field }: Measured) => {
    await using stack = new AsyncDisposableStack();
    const servers: McpServer[] = [];
    for (let count = 0; count < sessions; count++) {
      const session = await start();
      servers.push(stack.use(session.server));
      await work(session, file);
    }
    const sizes = servers.map(({ pid }) => memoryOf(pid, field));
    return new ExternalCost(
      0,
      sizes.reduce((total, size) => total + size, 0),
    );
  };
  const compare = (
    name: string,
    measured: Measured,
    others: Readonly<Record<string, Start>>,
  ): Comparison => ({
    group,
    name,
    ours: () => sizeOf(ours, measured),
    peers: Object.entries(others).map(([name, start]) => ({
      name,
      target: 1,
      run: () => sizeOf(start, measured),
    })),
  });
  const others = { "MCP filesystem server": reference, "Desktop Commander": commander };
  return [
    compare("after 20 reads and edits, resident (MB, not ms)", { sessions: 1, field: "Rss" }, others),
    compare(
      "the same, ten sessions at once (MB, not ms)",
      { sessions: 10, field: "Pss" },
      {
        "MCP filesystem server": reference,
      },
    ),
  ];
}

/**
 * The number of sessions, and the field of smaps_rollup. `Pss` divides the size of a page by the number of
 * processes that map it, so the sum counts each page once.
 */
interface Measured {
  readonly sessions: number;
  readonly field: "Rss" | "Pss";
}

async function work({ read, replace }: Session, path: string): Promise<void> {
  writeFileSync(path, "one\ntwo\n");
  for (let turn = 0; turn < 20; turn++) {
    await read(path);
    await (turn % 2 === 0 ? replace(path, "one", "three") : replace(path, "three", "one"));
  }
}

/** Reads a field of /proc/pid/smaps_rollup, and returns it in megabytes. */
function memoryOf(pid: number, field: Measured["field"]): number {
  const found = new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(
    readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"),
  );
  return Number(found![1]) / 1024;
}
