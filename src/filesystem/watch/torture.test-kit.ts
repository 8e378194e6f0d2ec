/**
 * `npm run suite -- watch --operations 100000 --folder /mnt/xfs`: a program changes a tree at random. Each
 * time it reports a batch of changes, the watched tree is compared with the disk.
 */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freshSeed, type Random, randomFrom } from "../../../tests/harness/random.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { openJail } from "../jail/jail.ts";
import { hasNoWriter } from "../jail/stamps.ts";
import { openWatchedTree } from "./open-tree.ts";
import type { WatchedFolder, WatchedTree } from "./watched-tree.ts";

export interface TortureOptions {
  readonly operations: number;
  readonly seed: number;
  /** The folder in which the tree is made. */
  readonly folder?: string | undefined;
}

export interface TortureReport {
  readonly operations: number;
  readonly checks: number;
  /** The number of files whose content was known, and compared. */
  readonly trusted: number;
  /** The number of incomplete drains for each reason. */
  readonly incomplete: Readonly<Record<string, number>>;
  /** The differences between the disk and the tree, or what was known. */
  readonly faults: readonly string[];
}

export async function torture({
  operations,
  seed,
  folder = tmpdir(),
}: TortureOptions): Promise<TortureReport> {
  const root = realpathSync(mkdtempSync(join(folder, "coder-watch-")));
  const [base, outside] = [join(root, "base"), join(root, "outside")];
  for (const made of [base, outside]) mkdirSync(made);
  const jail = openJail({ basePath: base, deny: compileGlobSet([]), backend: "openat" });
  const oracle = new Oracle(base);
  const tree = openWatchedTree(jail.admitFolder("."), oracle);
  if (typeof tree === "string") throw new Error(`no tree: ${tree}`);
  oracle.tree = tree;
  const writer = startWriter(base, outside, seed);
  try {
    await tree.build();
    return await run({ operations, seed, tree, oracle, writer });
  } finally {
    writer.end();
    tree.close();
    jail.close();
    rmSync(root, { recursive: true, force: true });
  }
}

interface Run {
  readonly operations: number;
  readonly seed: number;
  readonly tree: WatchedTree;
  readonly oracle: Oracle;
  readonly writer: Writer;
}

/** Maximum changes made at once while the tree is drained; otherwise they are made one by one. */
const together = 40;

async function run({ operations, seed, tree, oracle, writer }: Run): Promise<TortureReport> {
  // The number of reads depends on time. The changes, and so the number of checks, must not.
  const [random, reading] = [randomFrom(seed), randomFrom(seed + 1)];
  const incomplete: Record<string, number> = {};
  let [done, checks] = [0, 0];
  const drain = async () => {
    let state = await tree.drain();
    for (; !state.isComplete; state = await tree.build())
      incomplete[state.reason] = (incomplete[state.reason] ?? 0) + 1;
  };
  while (done < operations && oracle.faults.length < 5) {
    const isTogether = random.chance(0.02);
    const made = writer.change(isTogether ? together : 1);
    for (let isOver = !isTogether; !isOver; ) {
      await drain();
      oracle.readSome(reading);
      isOver = await Promise.race([
        made.then(() => true),
        new Promise<false>((resolve) => setImmediate(resolve, false)),
      ]);
    }
    done += await made;
    await drain();
    oracle.compare();
    checks++;
  }
  return { operations: done, checks, trusted: oracle.trusted, incomplete, faults: oracle.faults };
}

export interface Writer {
  /** Makes changes, and resolves to their number when the calls have returned. */
  change(count: number): Promise<number>;
  end(): void;
}

export function startWriter(base: string, outside: string, seed: number): Writer {
  const program = join(import.meta.dir, "torture-writer.test-kit.ts");
  const child = Bun.spawn([process.execPath, program, base, outside, String(seed)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = readLines(child.stdout);
  return {
    async change(count) {
      child.stdin.write(`${count}\n`);
      child.stdin.flush();
      const { value } = await lines.next();
      if (value === undefined) throw new Error("the writer has ended");
      return Number(value);
    },
    end: () => child.kill(),
  };
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk)).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}

/** Remembers contents of files, as an index would, and compares them and the tree with the disk. */
class Oracle {
  tree!: WatchedTree;
  readonly faults: string[] = [];
  trusted = 0;
  readonly #base: string;
  readonly #known = new Map<number, { readonly text: string; readonly inode: bigint }>();

  constructor(base: string) {
    this.#base = base;
  }

  onAdded(file: number): void {
    this.#known.delete(file);
  }

  onRemoved(file: number): void {
    this.#known.delete(file);
  }

  onDirty(file: number): void {
    this.#known.delete(file);
  }

  onAllDirty(): void {
    this.#known.clear();
  }

  onUnseenWrite(): void {
    this.#known.clear();
  }

  onLinked(inode: bigint): void {
    for (const [file, known] of this.#known) if (known.inode === inode) this.#known.delete(file);
  }

  /** Reads some files while they may be changing. */
  readSome(random: Random): void {
    for (const { folder, key, file } of this.tree.filesBelow(this.tree.base))
      if (random.chance(0.3)) this.#read(join(this.#base, pathOf(folder)), key, file);
  }

  compare(): void {
    this.#compareFolder(this.tree.base, this.#base);
    const paths = [...this.tree.filesBelow(this.tree.base)].map(({ folder, key }) =>
      join(pathOf(folder), key),
    );
    // The names are ASCII, so code units are bytes.
    if (paths.some((path, index) => index > 0 && path <= paths[index - 1]!))
      this.faults.push(`the files are out of order: ${paths.join(", ")}`);
  }

  #compareFolder(folder: WatchedFolder, path: string): void {
    const entries = readdirSync(path, { withFileTypes: true });
    const expected = entries
      .map((one) => {
        if (one.isDirectory()) return `${one.name}/ dir`;
        return `${one.name} ${one.isFile() ? "file" : "symlink"}`;
      })
      .sort();
    const actual = folder.keys
      .map((key, index) => {
        const entry = folder.entries[index]!;
        if (typeof entry === "number") return `${key} file`;
        return typeof entry === "string" ? `${key} ${entry}` : `${key} dir`;
      })
      .sort();
    if (actual.join() !== expected.join()) {
      this.faults.push(`${path} has ${expected.join(", ")}, and the tree ${actual.join(", ")}`);
      return;
    }
    for (const [index, entry] of folder.entries.entries()) {
      const key = folder.keys[index]!;
      if (typeof entry === "number") this.#compareFile(path, key, entry);
      else if (typeof entry === "object") this.#compareFolder(entry, join(path, entry.name));
    }
  }

  #compareFile(folder: string, key: string, file: number): void {
    const known = this.#known.get(file);
    const text = this.#read(folder, key, file);
    if (known === undefined) return;
    this.trusted++;
    if (known.text !== text) this.faults.push(`${folder}/${key} was ${known.text}, and is ${text}`);
  }

  /**
   * Returns the content of the file. It counts as known if the file has no other name and no program has it
   * open for writing.
   */
  #read(folder: string, key: string, file: number): string | undefined {
    this.#known.delete(file);
    const descriptor = openIfThere(join(folder, key));
    if (descriptor === undefined) return undefined;
    try {
      if (!fstatSync(descriptor).isFile()) return undefined;
      const text = readFileSync(descriptor, "latin1");
      const { ino, nlink } = fstatSync(descriptor, { bigint: true });
      if (nlink === 1n && hasNoWriter(descriptor)) this.#known.set(file, { text, inode: ino });
      return text;
    } finally {
      closeSync(descriptor);
    }
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
}

function pathOf(folder: WatchedFolder): string {
  return folder.parent === undefined ? "" : join(pathOf(folder.parent), folder.name);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      operations: { type: "string", default: "100000" },
      seed: { type: "string", default: String(freshSeed()) },
      folder: { type: "string" },
    },
  });
  const report = await torture({
    operations: Number(values.operations),
    seed: Number(values.seed),
    folder: values.folder,
  });
  process.stdout.write(`${JSON.stringify({ seed: values.seed, ...report }, undefined, 2)}\n`);
  if (report.faults.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
