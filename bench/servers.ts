/** The executable against the MCP filesystem server, one call at a time, on the same files. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Comparison } from "./comparison.ts";
import { ensureCorpus } from "./corpus.ts";
import { type ComparisonSet, makeNote, makeWorkFolder } from "./disk.ts";
import { type Server, startBusServer, startMcpFilesystem, startMcpServer } from "./programs.ts";

/** A transport of ours, and how its functions are called over it. */
interface Transport {
  readonly name: string;
  readonly program: Server;
  readonly nameOf: (functionName: string) => string;
  readonly isJudged: boolean;
  /** Whether what it writes is flushed to the disk. The peer flushes nothing. */
  readonly writes: "no fsync" | "fsync";
}

export async function openServerComparisons(mcpFilesystem: string): Promise<ComparisonSet> {
  const files = makeFiles();
  const tree = ensureCorpus("S");
  const quick = { fsync: false, list_max_page_size: 5000 };
  const programs = await Promise.all([
    startBusServer(files, quick),
    startMcpServer(files, quick),
    startBusServer(files),
    startMcpFilesystem(mcpFilesystem, files),
    startBusServer(tree),
    startMcpFilesystem(mcpFilesystem, tree),
  ]);
  const [bus, mcp, durable, peer, busTree, peerTree] = programs;
  const onBus = (program: Server) => ({ program, nameOf: (name: string) => `coder::${name}` });
  const transports: Transport[] = [
    { ...onBus(bus), name: "bus", isJudged: true, writes: "no fsync" },
    {
      name: "MCP",
      program: mcp,
      nameOf: (name) => `coder_${name.replaceAll("-", "_")}`,
      isJudged: false,
      writes: "no fsync",
    },
  ];
  const flushing: Transport = { ...onBus(durable), name: "bus", isJudged: false, writes: "fsync" };
  return {
    comparisons: [
      ...transports.flatMap((transport) => [read(transport, peer, files), list(transport, peer, files)]),
      readRevision(transports[0]!, files),
      traverse({ ...transports[0]!, program: busTree }, peerTree, tree),
      ...[...transports, flushing].flatMap((transport) => [
        create(transport, peer, files),
        edit(transport, peer, files),
      ]),
    ],
    async [Symbol.asyncDispose]() {
      for (const program of programs) await program[Symbol.asyncDispose]();
    },
  };
}

const group = "against the MCP filesystem server";
const target = ({ isJudged }: Transport) => (isJudged ? { target: 0.5 } : {});
const entries = 1000;

/** A folder of its own, with what the comparisons read, list and edit. */
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

function read(transport: Transport, peer: Server, folder: string): Comparison {
  const path = "one/two/note.txt";
  return {
    group,
    name: `read-file, 8 KB (${transport.name})`,
    ours: () => transport.program.call(transport.nameOf("read-file"), { path }),
    peers: [
      {
        name: "read_text_file",
        ...target(transport),
        run: () => peer.call("read_text_file", { path: join(folder, path) }),
      },
    ],
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

let created = 0;

function create(transport: Transport, peer: Server, folder: string): Comparison {
  const content = "a line of text that is here to be written\n".repeat(25);
  return {
    group,
    name: `create-file, 1 KB, ${transport.writes} (${transport.name})`,
    ours: () =>
      transport.program.call(transport.nameOf("create-file"), {
        files: [{ path: `new/ours-${created++ % 100}.txt`, content, overwrite: true }],
      }),
    peers: [
      {
        name: "write_file",
        ...target(transport),
        run: () =>
          peer.call("write_file", { path: join(folder, `new/theirs-${created++ % 100}.txt`), content }),
      },
    ],
    times: 50,
  };
}

let edited = 0;

/** The same line over and over, each time with another text. */
function edit(transport: Transport, peer: Server, folder: string): Comparison {
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index + 1} of the file\n`).join("");
  const stem = `edited (${transport.name}, ${transport.writes})`;
  const [path, twin] = [`${stem}.txt`, join(folder, `${stem}, twin.txt`)];
  for (const file of [join(folder, path), twin]) writeFileSync(file, lines);
  let text = "line 100 of the file";
  const ours = () =>
    transport.program.call(transport.nameOf("update-file"), {
      files: [
        {
          path,
          ops: [{ op: "update_lines", from_line: 100, to_line: 100, content: `edit ${edited++}` }],
        },
      ],
    });
  const run = () => {
    const [oldText, newText] = [text, `edit ${edited++}`];
    text = newText;
    return peer.call("edit_file", { path: twin, edits: [{ oldText, newText }] });
  };
  return {
    group,
    name: `update-file, 1 line of 200, ${transport.writes} (${transport.name})`,
    ours,
    peers: [{ name: "edit_file", ...target(transport), run }],
    times: 50,
  };
}
