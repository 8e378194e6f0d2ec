import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunResult } from "./foreground.ts";
import { createPrograms } from "./programs.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
const programs = createPrograms(4);
afterAll(() => rmSync(folder, { recursive: true }));

function run(line: string, stdin?: string): Promise<RunResult> {
  const environment = { PATH: "/usr/bin:/bin", HOME: folder };
  const options = { environment, folder, maxOutputBytes: 1000, stdin };
  return programs.run({ file: "/bin/bash", argv: ["bash", "-c", line] }, options, { timeoutMs: 20_000 });
}

test("it is a pipe, or the null device, and bash reads no start-up file of the user for it", async () => {
  writeFileSync(join(folder, ".bashrc"), "echo started");
  const line = "if [ -p /dev/stdin ]; then echo pipe; elif [ /dev/stdin -ef /dev/null ]; then echo null; fi";
  expect(await run(line)).toMatchObject({ stdout: "null\n", stderr: "" });
  for (const stdin of ["", "text"])
    expect(await run(line, stdin)).toMatchObject({ stdout: "pipe\n", stderr: "" });
});

test("a program gets all of a text that no pipe holds at once, also when it reads late", async () => {
  const text = "x".repeat(5_000_000);
  expect(await run("sleep 0.05; wc -c", text)).toMatchObject({ stdout: "5000000\n" });
});

test("a program that reads a part, or nothing, ends as usual and leaves no descriptor", async () => {
  const count = () => readdirSync("/proc/self/fd").length;
  await run("true", "x");
  const before = count();
  const text = "x".repeat(5_000_000);
  expect(await run("exit 3", text)).toMatchObject({ exit_code: 3 });
  expect(await run("head -c 1", text)).toMatchObject({ stdout: "x", exit_code: 0 });
  await expect(
    programs.run(
      { file: "/missing", argv: ["x"] },
      { environment: {}, folder, maxOutputBytes: 9, stdin: text },
      { timeoutMs: 9 },
    ),
  ).rejects.toThrow();
  while (count() > before) await Bun.sleep(5);
  // Descriptors of earlier tests may have been closed since.
  expect(count()).toBeLessThanOrEqual(before);
});
