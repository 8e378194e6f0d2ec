/** Compares the executable with other MCP servers, one call at a time and on the same files. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Comparison, Peer } from "./comparison.ts";
import { ensureCorpus } from "./corpus.ts";
import { type ComparisonSet, makeNote, makeWorkFolder } from "./disk.ts";
import {
  type DesktopCommander,
  type McpPeer,
  startDesktopCommander,
  startMcpFilesystem,
} from "./mcp-peers.ts";
import type { Peers } from "./peers.ts";
import { type Server, startBusServer, startMcpServer } from "./programs.ts";

/** A transport of ours, with the program that serves it and the names of functions over it. */
interface Transport {
  readonly name: string;
  readonly program: Server;
  readonly nameOf: (functionName: string) => string;
  readonly target?: number;
  /** Whether ours flushes what it writes to the disk. The peers never do. */
  readonly writes: "no fsync" | "fsync";
  readonly peers: readonly McpPeer[];
}

export async function openServerComparisons(peers: Peers): Promise<ComparisonSet> {
  const files = makeFiles();
  const tree = ensureCorpus("S");
  const quick = { fsync: false, list_max_page_size: 5000 };
  const programs = await Promise.all([
    startBusServer(files, quick),
    startMcpServer(files, quick),
    startBusServer(files),
    startBusServer(tree),
    startMcpServer(tree),
    startMcpFilesystem(peers, files),
    startMcpFilesystem(peers, tree),
    startDesktopCommander(peers),
  ]);
  const [bus, mcp, durable, busTree, mcpTree, reference, referenceTree, commander] = programs;
  const onBus = {
    name: "bus",
    nameOf: (name: string) => `coder::${name}`,
    writes: "no fsync",
    peers: [reference],
  } as const;
  const overBus: Transport = { ...onBus, program: bus, target: 0.5 };
  const overMcp: Transport = {
    name: "MCP",
    program: mcp,
    nameOf: (name) => `coder_${name.replaceAll("-", "_")}`,
    target: 1,
    writes: "no fsync",
    peers: [reference, commander],
  };
  const flushing: Transport = { ...onBus, program: durable, writes: "fsync" };
  return {
    comparisons: [
      ...[overBus, overMcp].flatMap((transport) => [
        read(transport, files),
        list(transport, reference.server, files),
      ]),
      readRevision(overBus, files),
      traverse({ ...overBus, program: busTree }, referenceTree.server, tree),
      search(mcpTree, commander, tree),
      ...[overBus, overMcp, flushing].flatMap((transport) => [
        create(transport, files),
        edit(transport, files),
      ]),
    ],
    async [Symbol.asyncDispose]() {
      for (const program of programs) await program[Symbol.asyncDispose]();
    },
  };
}

const group = "against other MCP servers";
const target = ({ target }: Transport) => (target === undefined ? {} : { target });
const entries = 1000;

/** Returns a run of each peer, with the target of the transport. */
const against = (transport: Transport, run: (peer: McpPeer) => Peer["run"]): Peer[] =>
  transport.peers.map((peer) => ({
    name: peer.name,
    ...(peer.every !== undefined && { every: peer.every }),
    ...target(transport),
    run: run(peer),
  }));

/** Makes a folder with the files that the comparisons read, list and edit. */
function makeFiles(): string {
  const folder = makeWorkFolder("files");
  mkdirSync(join(folder, "one/two"), { recursive: true });
  mkdirSync(join(folder, "many"), { recursive: true });
  mkdirSync(join(folder, "new"), { recursive: true });
  writeFileSync(join(folder, "one/two/note.txt"), "a line of text that is here to be read\n".repeat(200));
  for (let number = 0; number < entries; number++) {
    writeFileSync(join(folder, `many/entry-${number}.txt`), "");
  }
  return folder;
}

function read(transport: Transport, folder: string): Comparison {
  const path = "one/two/note.txt";
  return {
    group,
    name: `read-file, 8 KB (${transport.name})`,
    ours: () => transport.program.call(transport.nameOf("read-file"), { path }),
    peers: against(transport, (peer) => () => peer.read(join(folder, path))),
    times: 200,
  };
}

function readRevision({ program, nameOf, name }: Transport, folder: string): Comparison {
  const path = makeNote(join(folder, "note"));
  const payload = { path: `note/${path}` };
  return {
    group,
    name: `read-file, 1 KiB with its revision (${name})`,
    ours: () => program.call(nameOf("read-file"), { ...payload, revision: true }),
    peers: [{ name: "without revision", target: 1.3, run: () => program.call(nameOf("read-file"), payload) }],
    times: 200,
  };
}

function list(transport: Transport, peer: Server, folder: string): Comparison {
  const path = join(folder, "many");
  return {
    group,
    name: `list-folder, ${entries} entries (${transport.name})`,
    ours: () => transport.program.call(transport.nameOf("list-folder"), { path: "many", page_size: entries }),
    peers: [
      {
        name: "list_directory_with_sizes",
        ...target(transport),
        run: () => peer.call("list_directory_with_sizes", { path }),
      },
      { name: "list_directory (names alone)", run: () => peer.call("list_directory", { path }) },
    ],
    times: 20,
  };
}

function traverse(transport: Transport, peer: Server, folder: string): Comparison {
  return {
    group,
    name: `tree of S, whole (${transport.name})`,
    ours: () =>
      transport.program.call(transport.nameOf("tree"), { max_depth: 60, per_folder_limit: 100_000 }),
    peers: [
      {
        name: "directory_tree (names alone)",
        ...target(transport),
        run: () => peer.call("directory_tree", { path: folder }),
      },
    ],
  };
}

/** Compares a search. The peer runs ripgrep in a process, and is polled for results until that ends. */
function search(program: Server, commander: DesktopCommander, folder: string): Comparison {
  const query = "registerInstrumentations";
  const run = () => commander.search(folder, query);
  return {
    group,
    name: "search of S, a rare literal (MCP)",
    ours: () => program.call("coder_search", { query }),
    peers: [{ name: commander.name, target: 1, run }],
  };
}

let created = 0;

function create(transport: Transport, folder: string): Comparison {
  const lines = "a line of text that is here to be written\n".repeat(25);
  // A file that has the text already would not be written.
  const nextText = () => `${String(created++).padStart(8, "0")}\n${lines}`;
  return {
    group,
    name: `create-file, 1 KB, ${transport.writes} (${transport.name})`,
    ours: () =>
      transport.program.call(transport.nameOf("create-file"), {
        files: [{ path: `new/ours-${created % 100}.txt`, content: nextText(), overwrite: true }],
      }),
    peers: against(
      transport,
      (peer) => () => peer.create(join(folder, `new/${peer.name}-${created % 100}.txt`), nextText()),
    ),
    times: 50,
  };
}

let edited = 0;

/** Compares repeated edits of one line, each with a new text. */
function edit(transport: Transport, folder: string): Comparison {
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index + 1} of the file\n`).join("");
  const stem = `edited (${transport.name}, ${transport.writes})`;
  const path = `${stem}.txt`;
  writeFileSync(join(folder, path), lines);
  const ours = () =>
    transport.program.call(transport.nameOf("update-file"), {
      files: [
        {
          path,
          ops: [{ op: "update_lines", from_line: 100, to_line: 100, content: `edit ${edited++}` }],
        },
      ],
    });
  const run = (peer: McpPeer) => {
    const twin = join(folder, `${stem}, ${peer.name}.txt`);
    writeFileSync(twin, lines);
    let text = "line 100 of the file";
    return () => {
      const from = text;
      text = `edit ${edited++}`;
      return peer.replace(twin, from, text);
    };
  };
  return {
    group,
    name: `update-file, 1 line of 200, ${transport.writes} (${transport.name})`,
    ours,
    peers: against(transport, run),
    times: 50,
  };
}
