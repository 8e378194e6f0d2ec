/** Compares one replacement in many files with a search and edits of the files that it finds. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ComparisonSet, makeWorkFolder } from "./disk.ts";
import { type InProcessCoder, openInProcess } from "./in-process.ts";

const group = "in process, replacements";
const files = 10_000;
const matching = 500;
const names = ["getUser", "loadUser"] as const;

/**
 * Compares `coder::replace` with a search and one call that edits all files, and with plain writes, which
 * promise less (decision 55).
 */
export async function openReplacementComparisons(): Promise<ComparisonSet> {
  const dir = mkdtempSync(join(tmpdir(), "coder-state-"));
  const open = async (name: string, fsync: boolean) => {
    const folder = makeWorkFolder(name);
    makeFiles(folder);
    const local = await openInProcess(folder, {
      fsync,
      journal: { dir, max_bytes: 2 ** 28, max_records: 500 },
    });
    return { local, folder };
  };
  const flushed = await open("replaced", true);
  const unflushed = await open("replaced-unflushed", false);
  const compare = ({ local, folder }: typeof flushed, name: string, fsync: boolean) => ({
    group,
    name,
    ours: () => replace(local),
    peers: [
      { name: "search, update-file of all", run: () => edit(local), ...(fsync && { target: 1.3 }) },
      { name: "search, bare writes", run: () => write(local, { folder, fsync }) },
    ],
  });
  return {
    comparisons: [
      compare(flushed, `replace in ${matching} of ${files} files`, true),
      compare(unflushed, "the same, no fsync", false),
    ],
    async [Symbol.asyncDispose]() {
      for (const { local } of [flushed, unflushed]) await local[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true });
    },
  };
}

function makeFiles(folder: string): void {
  const line = (index: number) => `export const value${index} = compute(${index}, "text");\n`;
  for (let index = 0; index < files; index++) {
    if (index % 100 === 0) mkdirSync(join(folder, `d${index / 100}`), { recursive: true });
    const lines = Array.from({ length: 40 }, (_, at) => line(index + at));
    if (index % (files / matching) === 0) lines[20] = `const user = ${names[0]}(${index});\n`;
    writeFileSync(join(folder, `d${Math.floor(index / 100)}`, `f${index}.ts`), lines.join(""));
  }
}

/** The number of replacements so far, whose parity selects the current name in the files and the next one. */
const turns = new WeakMap<InProcessCoder, number>();

function nextNames(local: InProcessCoder): { readonly query: string; readonly replacement: string } {
  const turn = turns.get(local) ?? 0;
  turns.set(local, turn + 1);
  return { query: names[turn % 2]!, replacement: names[(turn + 1) % 2]! };
}

async function replace(local: InProcessCoder): Promise<void> {
  const answer = await local.call<{ files: object[] }>("coder::replace", {
    ...nextNames(local),
    answer: "none",
  });
  requireAll(answer.files);
}

/** Returns the paths of the files with a match. */
async function find(local: InProcessCoder, query: string): Promise<string[]> {
  const payload = { query, mode: "files", search_paths: false, max_matches: files };
  const { files: found = [] } = await local.call<{ files?: { path: string }[] }>("coder::search", payload);
  requireAll(found);
  return found.map(({ path }) => path);
}

async function edit(local: InProcessCoder): Promise<void> {
  const { query, replacement } = nextNames(local);
  const ops = [{ op: "str_replace", old_str: query, new_str: replacement, replace_all: true }];
  const paths = await find(local, query);
  const payload = { files: paths.map((path) => ({ path, ops })), answer: "none" };
  const { results } = await local.call<{ results: { success: boolean }[] }>("coder::update-file", payload);
  requireAll(results.filter(({ success }) => success));
}

interface Writing {
  readonly folder: string;
  readonly fsync: boolean;
}

async function write(local: InProcessCoder, { folder, fsync }: Writing): Promise<void> {
  const { query, replacement } = nextNames(local);
  const folders = new Set<string>();
  for (const path of await find(local, query)) {
    const file = join(folder, path);
    const text = readFileSync(file, "utf8").replaceAll(query, replacement);
    const descriptor = openSync(`${file}.new`, "w");
    writeSync(descriptor, text);
    if (fsync) fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(`${file}.new`, file);
    folders.add(dirname(file));
  }
  if (fsync) for (const folder of folders) flushFolder(folder);
}

/** Flushes the entries of a folder. Before that, a rename may be lost. */
function flushFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function requireAll(found: readonly object[]): void {
  if (found.length !== matching) throw new Error(`There are ${found.length} files, not ${matching}.`);
}
