/**
 * Preloaded into a process (`bun --preload`): counts its calls of the file system while
 * `fileCalls.isCounting` is set, and kills it by SIGKILL before call number `KILL_AT`, if that is set.
 * Between two such calls, the disk changes only by renameat2(2), which is not a part of `node:fs`. With
 * `AS_NODE=1`, the process has none of the features that only Bun has.
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
