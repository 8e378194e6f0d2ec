/** Measures the waits of 1 KiB reads while each function does its largest allowed work for another caller. */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { makeNote, makeWorkFolder } from "./disk.ts";
import type { Figure } from "./figures.ts";
import { type BusServer, type Settings, startBusServer } from "./programs.ts";

/** A call, and the function that prepares the folder for it. */
interface Work {
  readonly name: string;
  readonly id: string;
  readonly payload: (folder: string) => object;
  /** Whether the call changes nothing. It is then repeated until enough reads were sent beside it. */
  readonly isRepeated?: true;
}

const readEvery = 10;
/** Minimum reads beside a repeated call. */
const fewestReads = 50;
/** Milliseconds after the answer of a call until its changes have been compared with the tree. */
const afterwards = 1500;
/** Maximum milliseconds that a read may wait. */
const longestWait = 50;

const count = (length: number) => Array.from({ length }, (_, index) => index);
const words = (bytes: number) =>
  count(bytes / 8)
    .map((index) => (Math.imul(index, 0x9e3779b1) >>> 0).toString(36).padStart(8, "x"))
    .join("");

/** Makes a folder of 20,000 files. */
function makeMany(folder: string): void {
  for (const index of count(20_000)) {
    const path = join(folder, "many", `${index % 200}`, `${index}.txt`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `content ${index}\n`);
  }
}

const files = <T>(entry: (index: number) => T): T[] => count(1000).map(entry);
const always = (payload: object) => () => payload;

const works: readonly Work[] = [
  {
    name: "search, a literal of 65,536 characters",
    id: "search",
    payload: always({ query: words(65_536) }),
    isRepeated: true,
  },
  {
    name: "search, a regex",
    id: "search",
    payload: always({ query: "(\\w+ ){2}\\d+7$", regex: true }),
    isRepeated: true,
  },
  {
    name: "search, paths",
    id: "search",
    payload: always({ query: "7.txt", search_content: false }),
    isRepeated: true,
  },
  {
    name: "tree, 20,000 files",
    id: "tree",
    payload: always({ max_bytes: 4_000_000, max_depth: 10 }),
    isRepeated: true,
  },
  {
    name: "list-folder",
    id: "list-folder",
    payload: always({ path: "many", page_size: 1000 }),
    isRepeated: true,
  },
  {
    name: "read-file, stat of 10,000 paths",
    isRepeated: true,
    id: "read-file",
    payload: always({ stat: true, paths: count(10_000).map((index) => `many/${index % 200}/${index}.txt`) }),
  },
  {
    name: "create-file, 1,000 files",
    id: "create-file",
    payload: always({ files: files((index) => ({ path: `new/${index}`, content: "x\n" })) }),
  },
  {
    name: "create-file, 10 MB",
    id: "create-file",
    payload: always({ files: [{ path: "large", content: words(10_000_000) }] }),
  },
  {
    name: "update-file, 1,000 files",
    id: "update-file",
    payload: always({
      files: files((index) => ({
        path: `new/${index}`,
        ops: [{ op: "insert", at_line: 1, content: "y" }],
      })),
    }),
  },
  {
    name: "update-file, a miss in 10 MB",
    id: "update-file",
    payload: always({
      files: [{ path: "large", ops: [{ op: "str_replace", old_str: `${words(1_000_000)}!`, new_str: "" }] }],
    }),
  },
  {
    name: "update-file, an edit of 10 MB",
    id: "update-file",
    payload: always({
      files: [{ path: "large", ops: [{ op: "insert", at_line: 1, content: "a line" }] }],
    }),
  },
  {
    name: "move, 1,000 files",
    id: "move",
    payload: always({ files: files((index) => ({ from: `new/${index}`, to: `moved/${index}` })) }),
  },
  { name: "copy, 20,000 files", id: "copy", payload: always({ from: "many", to: "copied" }) },
  {
    name: "make-folder, 1,000 folders",
    id: "make-folder",
    payload: always({ paths: files((index) => `folders/${index}`) }),
  },
  {
    name: "transact, 1,000 changes",
    id: "transact",
    payload: always({ changes: files((index) => ({ op: "create", path: `t/${index}`, content: "x" })) }),
  },
  {
    name: "apply-patch, 1,000 files",
    id: "apply-patch",
    payload: always({
      patch: `*** Begin Patch\n${files((index) => `*** Add File: p/${index}\n+x\n`).join("")}*** End Patch\n`,
    }),
  },
  {
    name: "apply-patch, 5 MB",
    id: "apply-patch",
    payload: always({
      patch: `*** Begin Patch\n*** Add File: lines\n${"+x\n".repeat(1_600_000)}*** End Patch\n`,
    }),
  },
  {
    name: "delete-file, 20,000 files",
    id: "delete-file",
    payload: always({ paths: ["copied"], recursive: true }),
  },
  { name: "checkpoints", id: "checkpoints", payload: always({ limit: 500 }), isRepeated: true },
  { name: "undo of that, a dry run", id: "undo", payload: always({ dry_run: true }), isRepeated: true },
  { name: "undo of 20,000 files", id: "undo", payload: always({}) },
  {
    name: "undo of 20,000 files, all in conflict",
    id: "undo",
    payload: (folder) => {
      for (const index of count(20_000))
        writeFileSync(join(folder, "copied", `${index % 200}`, `${index}.txt`), "changed\n");
      return { force: true };
    },
  },
  { name: "changes", id: "changes", payload: always({}), isRepeated: true },
  {
    name: "move, a file of 250 MiB",
    id: "move",
    payload: (folder) => {
      writeFileSync(join(folder, "sparse"), "");
      truncateSync(join(folder, "sparse"), 250 << 20);
      return { from: "sparse", to: "moved/sparse" };
    },
  },
  {
    name: "changes, compared with the beginning",
    id: "changes",
    payload: always({ checkpoint: 1, answer: "stat" }),
    isRepeated: true,
  },
  {
    name: "checkpoints, ten compared",
    id: "checkpoints",
    payload: always({ answer: "diff", limit: 10 }),
    isRepeated: true,
  },
  // The cost of a concurrent call alone, because `info` does hardly any work.
  { name: "info", id: "info", payload: always({}), isRepeated: true },
];

/** The first call of a session, made after the calls of another session have filled the journal. */
const nextSession: readonly Work[] = [
  {
    name: "create-file, 1,000 files, in another session",
    id: "create-file",
    payload: always({ files: files((index) => ({ path: `next/${index}`, content: "x\n" })) }),
  },
];

export async function measurePauses(): Promise<Figure[]> {
  const folder = makeWorkFolder("pauses");
  const state = `${folder}.state`;
  for (const old of [folder, state]) rmSync(old, { recursive: true, force: true });
  mkdirSync(folder);
  makeMany(folder);
  const journal = { dir: state, max_bytes: 1 << 28, max_records: 500 };
  const settings = { profile: "agent", journal, fsync: false, call_timeout_ms: 280_000 };
  return [
    ...(await measureSession(folder, settings, works)),
    ...(await measureSession(folder, settings, nextSession)),
  ];
}

async function measureSession(
  folder: string,
  settings: Settings,
  session: readonly Work[],
): Promise<Figure[]> {
  const note = makeNote(join(folder, "note"));
  const figures: Figure[] = [];
  await using server = await startBusServer(folder, settings);
  await server.call("coder::search", { query: "content 7" });
  // The first call starts the feed, which then follows each change.
  await server.call("coder::changes", {});
  await using caller = startCaller(server.url);
  for (const work of session) {
    const payload = work.payload(folder);
    const call = () => caller.call(work.id, payload);
    const waits = await readBeside(server, `note/${note}`, { call, isRepeated: work.isRepeated });
    const sorted = waits.toSorted((one, other) => one - other);
    const [p99, longest] = [sorted[Math.floor(sorted.length * 0.99)], sorted.at(-1)];
    if (p99 === undefined || longest === undefined)
      figures.push({
        name: `reads before the end of ${work.name}: it has no figure`,
        value: 0,
        unit: "reads",
      });
    else
      figures.push(
        { name: `p99 of reading 1 KiB beside ${work.name}`, value: p99, unit: "ms" },
        { name: `the longest, of ${waits.length}`, value: longest, unit: "ms", most: longestWait },
      );
  }
  return figures;
}

interface Calling {
  readonly call: () => Promise<string>;
  readonly isRepeated: true | undefined;
}

/** Returns the milliseconds that each read took, for the reads sent during the call or shortly after it. */
async function readBeside(server: BusServer, path: string, { call, isRepeated }: Calling): Promise<number[]> {
  const reads: Promise<number>[] = [];
  const timer = setInterval(() => {
    const started = performance.now();
    reads.push(server.call("coder::read-file", { path }).then(() => performance.now() - started));
  }, readEvery);
  let answer: string;
  do answer = await call();
  while (isRepeated && reads.length < fewestReads && answer.startsWith("{"));
  if (!isRepeated) await setTimeout(afterwards);
  clearInterval(timer);
  if (!answer.startsWith("{")) throw new Error(answer);
  return await Promise.all(reads);
}

interface Caller extends AsyncDisposable {
  /** Returns the beginning of the answer. */
  call(id: string, payload: object): Promise<string>;
}

/** Starts the process that makes the large calls. */
function startCaller(url: string): Caller {
  const program = join(import.meta.dirname, "large-call.ts");
  const child = spawn(process.execPath, [program, url], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async call(id, payload) {
      const file = `${makeWorkFolder("call")}.json`;
      writeFileSync(file, JSON.stringify({ id: `coder::${id}`, payload }));
      child.stdin.write(`${file}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error("the process of the large calls has ended");
      return value;
    },
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin.end();
      await ended;
    },
  };
}
