/** Compares single functions in this process with bare system calls, which have no jail and no contract. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Comparison } from "./comparison.ts";
import { ensureCorpus, workFolder } from "./corpus.ts";
import { type InProcessCoder, openInProcess } from "./in-process.ts";

const group = "in process, against system calls";

/** Comparisons that hold resources until they are disposed. */
export interface ComparisonSet extends AsyncDisposable {
  readonly comparisons: readonly Comparison[];
}

export async function openDiskComparisons(): Promise<ComparisonSet> {
  const small = makeWorkFolder("small");
  const large = makeWorkFolder("large");
  const wide = ensureCorpus("wide");
  const locals = [
    await openInProcess(small),
    await openInProcess(wide),
    await openInProcess(large, { fsync: false }),
  ] as const;
  return {
    comparisons: [
      readSmall(locals[0], small),
      readRevision(locals[0], small),
      listWide(locals[1], wide),
      updateLarge(locals[2], large),
    ],
    async [Symbol.asyncDispose]() {
      for (const local of locals) await local[Symbol.asyncDispose]();
    },
  };
}

/** Makes a file of 1 KiB. Returns its path below `folder`. */
export function makeNote(folder: string): string {
  const path = "one/two/note.txt";
  mkdirSync(join(folder, "one/two"), { recursive: true });
  writeFileSync(
    join(folder, path),
    "All work and no play makes a dull boy of Jack. \n".repeat(22).slice(0, 1024),
  );
  return path;
}

function readSmall(local: InProcessCoder, folder: string): Comparison {
  const path = makeNote(folder);
  const file = join(folder, path);
  const buffer = Buffer.alloc(4096);
  const rawRead = () => {
    const descriptor = openSync(file, constants.O_RDONLY);
    const length = readSync(descriptor, buffer, 0, buffer.length, null);
    closeSync(descriptor);
    return length;
  };
  const readByHand = () => {
    const descriptor = openSync(file, constants.O_RDONLY);
    const { size, mode, mtimeMs } = fstatSync(descriptor);
    const length = readSync(descriptor, buffer, 0, buffer.length, null);
    closeSync(descriptor);
    return { content: buffer.toString("utf8", 0, length), size, mode, mtimeMs };
  };
  return {
    group,
    name: "read-file, 1 KiB at depth 3",
    ours: () => local.call("coder::read-file", { path }),
    peers: [
      { name: "open+read+close", target: 4, run: rawRead },
      { name: "the same, with fstat and a string", run: readByHand },
    ],
    times: 3000,
  };
}

function readRevision(local: InProcessCoder, folder: string): Comparison {
  const path = makeNote(folder);
  return {
    group,
    name: "read-file, 1 KiB with its revision",
    ours: () => local.call("coder::read-file", { path, revision: true }),
    peers: [
      {
        name: "without revision",
        target: 1.3,
        run: () => local.call("coder::read-file", { path }),
      },
    ],
    times: 3000,
  };
}

function listWide(local: InProcessCoder, folder: string): Comparison {
  return {
    group,
    name: "list-folder, 200 of 100,000",
    ours: () => local.call("coder::list-folder", { page_size: 200 }),
    peers: [
      {
        name: "stat of all",
        target: 0.25,
        run: () => readdirSync(folder).map((name) => lstatSync(`${folder}/${name}`)).length,
      },
      { name: "names alone, sorted", run: () => readdirSync(folder).sort().length },
    ],
  };
}

const line = '  const answer = question.map((word) => word.length).join(" ");\n';

function updateLarge(local: InProcessCoder, folder: string): Comparison {
  const [path, twin] = ["body.ts", join(folder, "twin.ts")];
  const content = line.repeat(Math.floor((10 * 1024 * 1024 - 1000) / line.length));
  for (const file of [join(folder, path), twin]) writeFileSync(file, content);
  let edit = 0;
  const ours = () => {
    const op = { op: "update_lines", from_line: 80_000, to_line: 80_000, content: `  // edit ${edit++}` };
    return local.call("coder::update-file", { files: [{ path, ops: [op] }] });
  };
  return {
    group,
    name: "update-file, one line in 10 MiB, no fsync",
    ours,
    peers: [{ name: "plain read+write", target: 2, run: () => writeFileSync(twin, readFileSync(twin)) }],
  };
}

/** Makes the folder of a comparison, or returns it with its files if it exists. */
export function makeWorkFolder(name: string): string {
  const folder = join(workFolder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}
