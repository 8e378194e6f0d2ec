/** The executable against the MCP filesystem server, one call at a time, on the same files. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Comparison } from "./comparison.ts";
import { ensureCorpus } from "./corpus.ts";
import { type Held, makeFolder } from "./disk.ts";
import { type Program, startMcpFilesystem, startOnBus, startOnMcp } from "./programs.ts";

/** One face of ours, and how its functions are called there. */
interface Face {
  readonly name: string;
  readonly program: Program;
  readonly nameOf: (functionName: string) => string;
  readonly isJudged: boolean;
  /** Whether what it writes is flushed to the disk. The peer flushes nothing. */
  readonly writes: "no fsync" | "fsync";
}

export async function openServerComparisons(mcpFilesystem: string): Promise<Held> {
  const files = makeFiles();
  const tree = ensureCorpus("S");
  const quick = { fsync: false, list_max_page_size: 5000 };
  const programs = await Promise.all([
    startOnBus(files, quick),
    startOnMcp(files, quick),
    startOnBus(files),
    startMcpFilesystem(mcpFilesystem, files),
    startOnBus(tree),
    startMcpFilesystem(mcpFilesystem, tree),
  ]);
  const [bus, mcp, durable, peer, busTree, peerTree] = programs;
  const onBus = (program: Program) => ({ program, nameOf: (name: string) => `coder::${name}` });
  const faces: Face[] = [
    { ...onBus(bus), name: "bus", isJudged: true, writes: "no fsync" },
    {
      name: "MCP",
      program: mcp,
      nameOf: (name) => `coder_${name.replaceAll("-", "_")}`,
      isJudged: false,
      writes: "no fsync",
    },
  ];
  const flushing: Face = { ...onBus(durable), name: "bus", isJudged: false, writes: "fsync" };
  return {
    comparisons: [
      ...faces.flatMap((face) => [read(face, peer, files), list(face, peer, files)]),
      traverse({ ...faces[0]!, program: busTree }, peerTree, tree),
      ...[...faces, flushing].flatMap((face) => [create(face, peer, files), edit(face, peer, files)]),
    ],
    async [Symbol.asyncDispose]() {
      for (const program of programs) await program[Symbol.asyncDispose]();
    },
  };
}

const group = "against the MCP filesystem server";
const target = ({ isJudged }: Face) => (isJudged ? { target: 0.5 } : {});
const entries = 1000;

/** A folder of its own, with what the comparisons read, list and edit. */
function makeFiles(): string {
  const folder = makeFolder("files");
  mkdirSync(join(folder, "one/two"), { recursive: true });
  mkdirSync(join(folder, "many"), { recursive: true });
  mkdirSync(join(folder, "new"), { recursive: true });
  writeFileSync(join(folder, "one/two/note.txt"), "a line of text that is here to be read\n".repeat(200));
  for (let number = 0; number < entries; number++) {
    writeFileSync(join(folder, `many/entry-${number}.txt`), "");
  }
  return folder;
}

function read(face: Face, peer: Program, folder: string): Comparison {
  const path = "one/two/note.txt";
  return {
    group,
    name: `read-file, 8 KB (${face.name})`,
    ours: () => face.program.call(face.nameOf("read-file"), { path }),
    peers: [
      {
        name: "read_text_file",
        ...target(face),
        run: () => peer.call("read_text_file", { path: join(folder, path) }),
      },
    ],
    times: 200,
  };
}

function list(face: Face, peer: Program, folder: string): Comparison {
  const path = join(folder, "many");
  return {
    group,
    name: `list-folder, ${entries} entries (${face.name})`,
    ours: () => face.program.call(face.nameOf("list-folder"), { path: "many", page_size: entries }),
    peers: [
      {
        name: "list_directory_with_sizes",
        ...target(face),
        run: () => peer.call("list_directory_with_sizes", { path }),
      },
      { name: "list_directory (names alone)", run: () => peer.call("list_directory", { path }) },
    ],
    times: 20,
  };
}

function traverse(face: Face, peer: Program, folder: string): Comparison {
  return {
    group,
    name: `tree of S, whole (${face.name})`,
    ours: () => face.program.call(face.nameOf("tree"), { max_depth: 60, per_folder_limit: 100_000 }),
    peers: [
      {
        name: "directory_tree (names alone)",
        ...target(face),
        run: () => peer.call("directory_tree", { path: folder }),
      },
    ],
  };
}

let created = 0;

function create(face: Face, peer: Program, folder: string): Comparison {
  const content = "a line of text that is here to be written\n".repeat(25);
  return {
    group,
    name: `create-file, 1 KB, ${face.writes} (${face.name})`,
    ours: () =>
      face.program.call(face.nameOf("create-file"), {
        files: [{ path: `new/ours-${created++ % 100}.txt`, content, overwrite: true }],
      }),
    peers: [
      {
        name: "write_file",
        ...target(face),
        run: () =>
          peer.call("write_file", { path: join(folder, `new/theirs-${created++ % 100}.txt`), content }),
      },
    ],
    times: 50,
  };
}

let edited = 0;

/** The same line over and over, each time with another text. */
function edit(face: Face, peer: Program, folder: string): Comparison {
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index + 1} of the file\n`).join("");
  const stem = `edited (${face.name}, ${face.writes})`;
  const [path, twin] = [`${stem}.txt`, join(folder, `${stem}, twin.txt`)];
  for (const file of [join(folder, path), twin]) writeFileSync(file, lines);
  let text = "line 100 of the file";
  const ours = () =>
    face.program.call(face.nameOf("update-file"), {
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
    name: `update-file, 1 line of 200, ${face.writes} (${face.name})`,
    ours,
    peers: [{ name: "edit_file", ...target(face), run }],
    times: 50,
  };
}
