/**
 * Preloaded into a process (`bun --preload`): ends it by SIGKILL before its n-th call of the file system, where `KILL_AT` is n,
 * counted from `startCounting`; without it, counts. Between two such calls nothing changes on the disk but by the one call in
 * between that is not of `node:fs`: renameat2(2). With `AS_NODE=1` the process has none of what only Bun can do.
 */
import { createRequire } from "node:module";

interface Counter {
  count: number;
  isCounting: boolean;
}

const counter: Counter = { count: 0, isCounting: false };
Object.assign(globalThis, { fileCalls: counter });

const killAt = Number(process.env["KILL_AT"] ?? 0);
const files = createRequire(import.meta.url)("node:fs") as Record<string, unknown>;
for (const [name, call] of Object.entries(files)) {
  if (typeof call !== "function" || !/^fsync$|Sync$/.test(name)) continue;
  files[name] = (...args: unknown[]) => {
    if (counter.isCounting && ++counter.count === killAt) process.kill(process.pid, "SIGKILL");
    return call(...args);
  };
}

if (process.env["AS_NODE"] === "1") {
  const { bun: _, ...versions } = process.versions;
  Object.defineProperty(process, "versions", { value: versions });
}
