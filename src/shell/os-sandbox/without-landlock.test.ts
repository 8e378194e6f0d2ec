/** Tests a worker on a kernel without Landlock, simulated by a filter of system calls. */
import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { makeImage } from "./image.ts";
import { openKernel } from "./kernel.ts";
import { buildLauncher } from "./launcher.ts";
import type { Architecture } from "./syscalls.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * A program of BPF (bpf(4)) that returns ENOSYS for landlock_create_ruleset(2), whose number is the same on
 * all architectures.
 */
const landlock = 444;
const filter = Buffer.concat(
  [
    [0x20, 0, 0, 0],
    [0x15, 0, 1, landlock],
    [0x06, 0, 0, 0x00050000 | 38],
    [0x06, 0, 0, 0x7fff0000],
  ].map(([code, whenTrue, whenFalse, k]) => {
    const bytes = Buffer.from([code!, 0, whenTrue!, whenFalse!, 0, 0, 0, 0]);
    bytes.writeUInt32LE(k!, 4);
    return bytes;
  }),
);

/** Runs a command by this project's executable. */
async function run(os_sandbox: string, command: string, ...args: string[]) {
  const config = join(folder, "shell.yaml");
  writeFileSync(config, JSON.stringify({ os_sandbox, allowlist: ["echo"], fs: { host_root: folder } }));
  const architecture = process.arch as Architecture;
  const confinement = { architecture, file: process.execPath, limits: [], hasRuleset: false, filter };
  const image = runAtOnce(makeImage(openKernel()!, buildLauncher(confinement)));
  const nothing = openSync("/dev/null", "r+");
  const main = join(import.meta.dir, "../../main.ts");
  const extra = [nothing, nothing] as unknown as "pipe"[];
  const result = await execa(
    `/proc/self/fd/${image}`,
    [main, command, "--worker", "shell", "--config", config, ...args],
    {
      stdio: ["ignore", "pipe", "pipe", ...extra],
      reject: false,
    },
  );
  for (const each of [image, nothing]) closeSync(each);
  return { exitCode: result.exitCode, stdout: String(result.stdout), stderr: String(result.stderr) };
}

describe("without Landlock", () => {
  test("best confines as far as it can, and the log says what is missing", async () => {
    const { stdout } = await run("best", "call", "shell::exec", '{"command":"echo one"}');
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 0, stdout: "one\n" });
    // The worker ends with its standard input.
    const { stderr } = await run("best", "mcp");
    const line = stderr.split("\n").find((each) => each.includes("os sandbox"));
    expect(JSON.parse(line!)).toMatchObject({
      level: "warn",
      holds: "network, system calls, sessions, limits",
      lacks: "files, truncation, signals",
      mounts: false,
    });
  });

  test("required refuses to start", async () => {
    const { exitCode, stdout, stderr } = await run("required", "mcp");
    expect(stderr).toContain(
      "this system lacks what confines files, truncation, signals; take a newer kernel",
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  });
});
