import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Runtime } from "../calls/contract/definition.ts";
import type { RunningCalls } from "../calls/running-calls.ts";
import { closeAfterCalls } from "./lifecycle.ts";

const processModule = JSON.stringify(join(import.meta.dir, "lifecycle.ts"));

/** Returns the lines logged by a process that logs a burst and then runs `next`. */
async function logged(next: string): Promise<string[]> {
  const burst = 'for (const name of ["a", "b", "c"]) log.info(name);';
  const program = `const { stderrLog } = await import(${processModule}); const log = stderrLog("info"); ${burst} ${next}`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdio: ["ignore", "ignore", "pipe"] });
  const text = await child.stderr.text();
  await child.exited;
  return text
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line).message as string] : []));
}

test.each([
  ["ends by itself", ""],
  ["exits", "process.exit(3)"],
  ["throws", 'throw new Error("unforeseen")'],
  ["rejects", 'Promise.reject(new Error("unforeseen"))'],
])("no line is lost when the process %s right behind it", async (_, next) => {
  expect(await logged(next)).toEqual(["a", "b", "c"]);
});

test("an error is out, with all lines before it, even if the process is killed", async () => {
  expect(await logged('log.error("d"); process.kill(process.pid, "SIGKILL")')).toEqual(["a", "b", "c", "d"]);
});

test("a process that ends while calls are running says so, and has a status of its own", async () => {
  const program = `const { endInTheMiddle, stderrLog } = await import(${processModule}); endInTheMiddle(2, stderrLog("error"));`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdio: ["ignore", "ignore", "pipe"] });
  expect(JSON.parse(await child.stderr.text())).toMatchObject({
    level: "error",
    message: expect.stringContaining("the next start takes back what they have begun"),
    calls: 2,
  });
  expect(await child.exited).toBe(70);
});

test.each([
  ["has ended", false, 0, ["closed"]],
  ["goes on", true, 1, []],
])("a runtime is closed if each call %s", async (_, isEndless, left, closed) => {
  const done: string[] = [];
  const running = {
    size: isEndless ? 1 : 0,
    end: async () => {},
  } as RunningCalls;
  const runtime = { close: async () => void done.push("closed") } as Runtime;
  expect(await closeAfterCalls(runtime, running)).toBe(left);
  expect(done).toEqual(closed);
});
