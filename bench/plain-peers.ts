/**
 * Minimal peers of a search, in a process of their own like the other peers. In a shared process, the memory
 * that they retained slowed ours down.
 */
import { fullGC } from "bun:jsc";
import { closeSync, constants, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { ExternalCost } from "./comparison.ts";

export interface PlainQuery {
  readonly query: string;
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
}

/** The process of the minimal peers, which runs one request at a time. */
export interface PlainPeers extends AsyncDisposable {
  searchNaively(folder: string, query: PlainQuery): Promise<ExternalCost>;
  readEverything(folder: string): Promise<ExternalCost>;
}

/** A request to the process: the naive search, or without a query, reading every file. */
interface Task {
  readonly folder: string;
  readonly query?: PlainQuery;
}

interface Report {
  readonly cpuMilliseconds: number;
  readonly milliseconds: number;
}

export function openPlainPeers(): PlainPeers {
  let awaited: ReturnType<typeof Promise.withResolvers<Report>> | undefined;
  const child = Bun.spawn([process.execPath, import.meta.path], {
    ipc: (report: Report) => awaited?.resolve(report),
    onExit: () => awaited?.reject(new Error("the process of the naive peers ended")),
  });
  const run = async (task: Task) => {
    awaited = Promise.withResolvers<Report>();
    child.send(task);
    const { cpuMilliseconds, milliseconds } = await awaited.promise;
    return new ExternalCost(cpuMilliseconds, milliseconds);
  };
  return {
    searchNaively: (folder, query) => run({ folder, query }),
    readEverything: (folder) => run({ folder }),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

function serve(): void {
  process.on("message", ({ folder, query }: Task) => {
    const [before, started] = [process.cpuUsage(), performance.now()];
    if (query === undefined) readEverything(folder);
    else searchNaively(folder, query);
    const milliseconds = performance.now() - started;
    const { user, system } = process.cpuUsage(before);
    fullGC(); // outside of the measured time
    process.send?.({ cpuMilliseconds: (user + system) / 1000, milliseconds } satisfies Report);
  });
}

/**
 * Makes the system calls that every search needs, in one thread and by paths: lists every folder, and opens,
 * reads and closes every file.
 */
function readEverything(folder: string): void {
  const buffer = Buffer.allocUnsafeSlow(4 * 1024 * 1024);
  const descend = (path: string) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = `${path}/${entry.name}`;
      if (entry.isDirectory()) descend(inner);
      else {
        const descriptor = openSync(inner, constants.O_RDONLY | constants.O_NOFOLLOW);
        while (readSync(descriptor, buffer, 0, buffer.length, null) === buffer.length);
        closeSync(descriptor);
      }
    }
  };
  descend(folder);
}

/** Searches with the most obvious design: reads each file as a string, splits it, and tests every line. */
function searchNaively(folder: string, { query, regex, ignoreCase }: PlainQuery): unknown[] {
  const pattern = regex || ignoreCase ? new RegExp(query, ignoreCase ? "iu" : "u") : undefined;
  const columnOf = (line: string) => (pattern ? (pattern.exec(line)?.index ?? -1) : line.indexOf(query));
  const found: unknown[] = [];
  const descend = (path: string) => {
    const entries = readdirSync(`${folder}/${path}`, { withFileTypes: true });
    entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    for (const entry of entries) {
      const inner = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) descend(inner);
      else searchFile(inner);
    }
  };
  const searchFile = (path: string) => {
    const content = readFileSync(`${folder}/${path}`, "utf8");
    if (content.includes("\0")) return;
    for (const [index, line] of content.split("\n").entries()) {
      const column = columnOf(line);
      if (column >= 0) found.push({ path, line: index + 1, column: column + 1, text: line });
    }
  };
  descend("");
  return found;
}

if (import.meta.main) serve();
