/**
 * Measures the memory of a worker under many large answers from outside. `npm run suite -- memory` prints a
 * table. As root, it runs each worker in a memory cgroup of 1 GiB; other users see the peaks without one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { connectMcpHttp } from "./memory-http.ts";
import { connectMcpStdio, connectWorker, type ReadingClient, startFakeEngine } from "./memory-peers.ts";

export interface Load {
  /** The number of large files to read at once. */
  readonly reads: number;
  /**
   * Whether answers are read as they arrive. Otherwise, they are read after the worker has logged the end of
   * every call.
   */
  readonly isRead: boolean;
  /** The `call_timeout_ms` of the worker's configuration. */
  readonly callMilliseconds?: number;
  /** The memory cgroup of the worker, if any. */
  readonly cgroup?: string | undefined;
}

export interface MemoryReport {
  readonly answered: number;
  readonly refused: number;
  /** The number of large reads that had ended when the small one was answered. */
  readonly endedBeforeSmall: number;
  readonly smallMilliseconds: number;
  readonly peakMebibytes: number;
}

/** Every transport, as answers can pile up in each. */
export const transports: Readonly<Record<string, (load: Load) => Promise<MemoryReport>>> = {
  "bus worker": (load) =>
    onWorker(load, ["--url", "ws://127.0.0.1:PORT"], async (worker) => {
      const engine = await startFakeEngine(worker.port);
      return measure(worker, load, { large: engine.as("one"), small: engine.as("other") });
    }),
  "embedded engine": (load) =>
    onWorker(load, ["--engine", "embedded:PORT"], async (worker) => {
      await worker.logged(/"serving"/g, 1);
      const [large, small] = [await connectWorker(worker.port), await connectWorker(worker.port)];
      return measure(worker, load, { large, small });
    }),
  "MCP on stdio": (load) =>
    onWorker(load, ["mcp"], async (worker) => {
      const client = await connectMcpStdio(worker.child);
      return measure(worker, load, { large: client, small: client });
    }),
  "MCP over HTTP": (load) =>
    onWorker(load, ["mcp", "--http", "PORT", "--no-token"], async (worker) => {
      await worker.logged(/"listening"/g, 1);
      const [large, small] = [await connectMcpHttp(worker.port), await connectMcpHttp(worker.port)];
      return measure(worker, load, { large, small });
    }),
};

/** A worker that serves a folder with a large and a small file. */
interface Worker {
  readonly child: ChildProcess;
  /** A port that was free before the worker started. */
  readonly port: number;
  /** Resolves when the log has `count` matches. Rejects if the worker ends first. */
  logged(pattern: RegExp, count: number): Promise<void>;
}

/** A little less than the default of `max_read_bytes`. */
const largeBytes = 9_400_000;

async function onWorker(
  { cgroup = "", callMilliseconds = 25_000 }: Load,
  options: readonly string[],
  act: (worker: Worker) => Promise<MemoryReport>,
): Promise<MemoryReport> {
  const root = temporaryFolder();
  const base = join(root, "base");
  mkdirSync(base);
  writeFileSync(join(base, "large.txt"), "a".repeat(largeBytes));
  writeFileSync(join(base, "small.txt"), "small\n");
  const config = join(root, "config.yaml");
  writeFileSync(
    config,
    JSON.stringify({ base_path: base, call_timeout_ms: callMilliseconds, profile: "contract" }),
  );
  const port = freePort();
  const placed = options.map((argument) => argument.replace("PORT", String(port)));
  const enter = 'test -z "$0" || echo $$ > "$0/cgroup.procs"; exec "$@"';
  const args = ["-c", enter, cgroup, ...commandOf("executable"), ...placed, "--config", config];
  // The executable makes its engine act as on a machine of little memory, so the peaks of machines are alike.
  const child = spawn("sh", args);
  try {
    return await act({ child, port, logged: watchLog(child) });
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    rmSync(root, { recursive: true });
  }
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  server.stop(true);
  return server.port;
}

function watchLog(child: ChildProcess): Worker["logged"] {
  let log = "";
  const checks = new Set<() => void>();
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    log += text;
    for (const check of checks) check();
  });
  return (pattern, count) =>
    new Promise((resolve, reject) => {
      const check = () => {
        if ((log.match(pattern)?.length ?? 0) >= count) resolve();
      };
      checks.add(check);
      child.on("exit", (code, signal) => reject(new Error(`the worker ended (${signal ?? code}): ${log}`)));
      check();
    });
}

interface Callers {
  readonly large: ReadingClient;
  readonly small: ReadingClient;
}

async function measure(worker: Worker, load: Load, { large, small }: Callers): Promise<MemoryReport> {
  const ended = { answered: 0, refused: 0 };
  if (!load.isRead) large.pause();
  const reads = Array.from({ length: load.reads }, async () => {
    ended[await large.read("large.txt")]++;
  });
  const began = performance.now();
  let smallMilliseconds = 0;
  let endedBeforeSmall = 0;
  const smallRead = small.read("small.txt").then(() => {
    smallMilliseconds = performance.now() - began;
    endedBeforeSmall = ended.answered + ended.refused;
  });
  if (!load.isRead) {
    if (small.isApartFrom(large)) await smallRead;
    await worker.logged(/"coder::read-file"/g, load.reads + 1);
    large.resume();
  }
  const workerEnd = worker.logged(/(?!)/g, 1);
  await Promise.race([Promise.all([...reads, smallRead]), workerEnd]);
  return { ...ended, endedBeforeSmall, smallMilliseconds, peakMebibytes: peakOf(worker.child.pid!) };
}

/** Returns the maximum resident memory of a process so far, in MiB. */
function peakOf(pid: number): number {
  const kibibytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1];
  return Math.round(Number(kibibytes) / 1024);
}

const gibibyte = 1024 ** 3;

/** Creates a cgroup of 1 GiB (cgroups(7), version 2 or 1). Returns `undefined` if that is not permitted. */
function makeCgroup(): string | undefined {
  const isFirstVersion = existsSync("/sys/fs/cgroup/memory");
  const cgroup = `/sys/fs/cgroup/${isFirstVersion ? "memory/" : ""}coder-${process.pid}`;
  try {
    mkdirSync(cgroup);
    writeFileSync(`${cgroup}/${isFirstVersion ? "memory.limit_in_bytes" : "memory.max"}`, String(gibibyte));
    return cgroup;
  } catch {
    return undefined;
  }
}

/** Runs every transport with many reads, and prints the reports. */
async function printTable(reads: number): Promise<void> {
  const cgroup = makeCgroup();
  console.log(`${reads} reads of 9.4 MB, ${cgroup === undefined ? "no cgroup" : "in a cgroup of 1 GiB"}`);
  for (const [name, transport] of Object.entries(transports)) {
    for (const isRead of [true, false]) {
      const title = `${name}, answers ${isRead ? "read" : "read at the end"}`;
      const report = await transport({ reads, isRead, cgroup }).catch((error: Error) =>
        error.message.slice(0, 200),
      );
      console.log(title, report);
    }
  }
  if (cgroup !== undefined) rmdirSync(cgroup);
}

if (import.meta.main) {
  await printTable(Number(process.argv[2] ?? 200));
  process.exit();
}
