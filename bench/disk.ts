/** Single functions in this process against the bare system calls, which no jail and no contract slows down. */
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
import { openLocal } from "./services.ts";

const group = "in process, against system calls";

/** Comparisons, and what they hold open. */
export interface Held extends AsyncDisposable {
  readonly comparisons: readonly Comparison[];
}

export async function openDiskComparisons(): Promise<Held> {
  const small = makeFolder("small");
  const large = makeFolder("large");
  const wide = ensureCorpus("wide");
  const locals = [
    await openLocal(small),
    await openLocal(wide),
    await openLocal(large, { fsync: false }),
  ] as const;
  return {
    comparisons: [readSmall(locals[0], small), listWide(locals[1], wide), updateLarge(locals[2], large)],
    async [Symbol.asyncDispose]() {
      for (const local of locals) await local[Symbol.asyncDispose]();
    },
  };
}

type Local = Awaited<ReturnType<typeof openLocal>>;

function readSmall(local: Local, folder: string): Comparison {
  const path = "one/two/note.txt";
  const file = join(folder, path);
  mkdirSync(join(folder, "one/two"), { recursive: true });
  writeFileSync(file, "All work and no play makes a dull boy of Jack. \n".repeat(22).slice(0, 1024));
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

function listWide(local: Local, folder: string): Comparison {
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

function updateLarge(local: Local, folder: string): Comparison {
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

/** An empty folder for a comparison. */
export function makeFolder(name: string): string {
  const folder = join(workFolder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
}
