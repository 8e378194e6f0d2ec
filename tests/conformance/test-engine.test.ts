/** Tests the command that runs the suites on the executable of an engine, with a program in its place. */
import { afterAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true }));

/** Makes an executable from a shell script. */
function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

async function testEngine(...args: string[]): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([process.execPath, "scripts/test-engine.ts", ...args], {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, output: stdout + stderr };
}

test("the suites run on an executable that is started with a configuration", async () => {
  const standIn = join(repository, "tests/harness/engines/stand-in.ts");
  const engine = program("iii", `echo "$$" >> ${folder}/pids; exec ${process.execPath} ${standIn} "$@"`);
  const { code, output } = await testEngine("--engine", engine, "--only", "golden");
  expect(output).toMatch(/\b[1-9]\d* pass\n\s*0 fail/);
  expect(output).toContain("Left out: bus-embedded");
  expect(code).toBe(0);
  const pids = (await Bun.file(join(folder, "pids")).text()).trim().split("\n");
  expect(pids.length).toBeGreaterThan(1);
  expect(pids.filter((pid) => isAlive(Number(pid)))).toEqual([]);
});

test("an engine that does not start fails the suites, with what it said", async () => {
  const engine = program("broken", "echo no such option >&2; exit 3");
  const { code, output } = await testEngine("--engine", engine, "--only", "golden");
  expect(code).not.toBe(0);
  expect(output).toContain("the engine ended: no such option");
});

test.each([
  [[], "--engine PATH"],
  [["--engine", "/nowhere/iii"], "/nowhere/iii is not a file that can be run"],
  [["--engine", process.execPath, "--only", "none"], "there is no suite none; they are golden, bus"],
])("%j is refused", async (args, sentence) => {
  const { code, output } = await testEngine(...args);
  expect(code).toBe(2);
  expect(output).toContain(sentence);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
