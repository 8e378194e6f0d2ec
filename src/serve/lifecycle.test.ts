import { expect, test } from "bun:test";
import { join } from "node:path";

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
