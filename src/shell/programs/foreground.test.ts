import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Argv } from "./words.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A run as the driver below expects it. Other fields have defaults. */
interface Run {
  readonly argv: Argv;
  readonly file?: string;
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  readonly environment?: Record<string, string>;
  readonly folder?: string;
}

const shell = (script: string, more: Partial<Run> = {}): Run => ({ argv: ["sh", "-c", script], ...more });

const ok = { exit_code: 0, stderr: "", timed_out: false, stdout_truncated: false, stderr_truncated: false };
const timedOut = { exit_code: null, timed_out: true };

const cases: Readonly<Record<string, readonly [Run, object]>> = {
  "an output": [shell("echo hi"), { ...ok, stdout: "hi\n" }],
  "the other output": [shell("echo no >&2; exit 3"), { exit_code: 3, stdout: "", stderr: "no\n" }],
  "an end by a signal": [shell("kill -9 $$"), { exit_code: null, timed_out: false }],
  "arguments as they are": [
    { argv: ["printf", "%s|", "a b", "", "$HOME", "'"] },
    { ...ok, stdout: "a b||$HOME|'|" },
  ],
  "an empty input": [{ argv: ["cat"] }, { ...ok, stdout: "" }],
  "only the given environment": [
    { argv: ["env"], environment: { A: "ä" } },
    { ...ok, stdout: "A=ä\n" },
  ],
  "the given folder": [
    { argv: ["pwd"], folder },
    { ...ok, stdout: `${folder}\n` },
  ],
  "the name in the argument vector": [
    { argv: ["another-name", "-c", "echo $0"], file: "/bin/sh" },
    { ...ok, stdout: "another-name\n" },
  ],
  "a group of its own": [shell('test "$(ps -o pgid= -p $$)" -eq $$'), ok],
  "bytes that are not UTF-8": [
    shell("printf '\\377\\376a\\357\\273\\277'"),
    { ...ok, stdout: "\ufffd\ufffda\ufeff" },
  ],
  "exactly the cap": [shell("printf abcd", { maxOutputBytes: 4 }), { ...ok, stdout: "abcd" }],
  "the head of what is more": [
    shell("printf abcde; printf xy >&2", { maxOutputBytes: 4 }),
    { exit_code: 0, stdout: "abcd", stdout_truncated: true, stderr: "xy", stderr_truncated: false },
  ],
  "a whole gibibyte, to whose writer nobody shuts the door": [
    shell("head -c 1073741824 /dev/zero && echo done >&2", { maxOutputBytes: 0 }),
    { exit_code: 0, stdout: "", stdout_truncated: true, stderr_truncated: true, timed_out: false },
  ],
  "an end long after both outputs were closed": [
    shell("exec >&- 2>&-; sleep 0.3; exit 7"),
    { exit_code: 7, stdout: "" },
  ],
  "a time that is up": [
    shell("echo early; exec sleep 600", { timeoutMs: 500 }),
    { ...timedOut, stdout: "early\n" },
  ],
  "no time at all": [{ argv: ["sleep", "600"], timeoutMs: 0 }, timedOut],
  "code that runs when it is asked to end": [
    shell("trap 'echo bye; exit 0' TERM; echo hi; while :; do sleep 0.01; done", { timeoutMs: 500 }),
    { ...timedOut, stdout: "hi\nbye\n" },
  ],
  "a group that ignores being asked": [
    shell("trap '' TERM; echo hi; sleep 600 & wait", { timeoutMs: 500 }),
    { ...timedOut, stdout: "hi\n" },
  ],
  "a child that holds the outputs after its parent's exit": [
    shell("sleep 600 & echo gone"),
    { ...ok, stdout: "gone\n" },
  ],
  "a missing program": [{ argv: ["x"], file: "/nowhere/x" }, { problem: "missing" }],
  "a missing folder": [{ argv: ["pwd"], folder: "/nowhere" }, { problem: "missing" }],
  "a file that is no program": [{ argv: ["x"], file: "/etc/passwd" }, { problem: "not-executable" }],
  "a folder as a program": [{ argv: ["x"], file: "/" }, { problem: "not-executable" }],
  "a NUL in an argument": [{ argv: ["echo", "a\0b"] }, { problem: "null-character" }],
  "a NUL in the name": [{ argv: ["e\0cho"] }, { problem: "null-character" }],
  "as many control characters as may be": [
    { argv: ["printf", "%s", `${"\u0001".repeat(65_535)} \t\r\n\f\b\u2003`], maxOutputBytes: 100_000 },
    { ...ok, stdout: `${"\u0001".repeat(65_535)} \t\r\n\f\b\u2003` },
  ],
  "too many control characters": [
    { argv: ["echo", "\u0001".repeat(60_000), "\u200b".repeat(5537)] },
    { problem: "control-characters" },
  ],
  "a thousand arguments": [
    { argv: ["echo", ...Array<string>(1000).fill("a")] },
    { ...ok, stdout: `${Array(1000).fill("a").join(" ")}\n` },
  ],
  "too long an argument": [{ argv: ["echo", "LONG"] }, { problem: "too-long" }],
};

/**
 * Runs the programs that it is sent, one after another, on the runtime that it is bundled for. Reports the
 * peak of its own image, because ru_maxrss survives execve(2), and therefore starts with the peak of the
 * parent.
 */
const driver = `
  import { readFileSync } from "node:fs";
  import { createPrograms } from ${JSON.stringify(join(import.meta.dir, "programs.ts"))};
  import { findProgram, programFolders } from ${JSON.stringify(join(import.meta.dir, "program.ts"))};
  const programs = createPrograms(4);
  const outcomes = [];
  for (const { argv, file, environment, folder, maxOutputBytes, timeoutMs } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
    const program = {
      file: file ?? findProgram(argv[0], programFolders) ?? argv[0],
      argv: argv.map((word) => word === "LONG" ? "a".repeat(3_000_000) : word),
    };
    const spawnOptions = {
      environment: environment ?? { PATH: programFolders.join(":") },
      folder: folder ?? "/",
      maxOutputBytes: maxOutputBytes ?? 65536,
    };
    outcomes.push(await programs.run(program, spawnOptions, { timeoutMs: timeoutMs ?? 60_000 }).catch(({ problem, message }) => ({ problem, message })));
  }
  const [, peak] = /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"));
  console.log(JSON.stringify({ outcomes, peakBytes: peak * 1024 }));
`;

const runtimes = { bun: process.execPath, node: "node" } as const;

async function drive(runtime: keyof typeof runtimes, runs: readonly Run[]) {
  const source = join(folder, "driver.mjs");
  const input = join(folder, `${runtime}.json`);
  writeFileSync(source, driver);
  writeFileSync(input, JSON.stringify(runs));
  const { success, logs } = await Bun.build({
    entrypoints: [source],
    target: runtime,
    outdir: join(folder, runtime),
  });
  if (!success) throw new AggregateError(logs);
  const { stdout } = Bun.spawn([runtimes[runtime], join(folder, runtime, "driver.js"), input], {
    stderr: "inherit",
  });
  return JSON.parse(await new Response(stdout).text()) as { outcomes: object[]; peakBytes: number };
}

describe.each(["bun", "node"] as const)("a run on %s has", (runtime) => {
  let driven: Awaited<ReturnType<typeof drive>>;
  beforeAll(async () => {
    driven = await drive(
      runtime,
      Object.values(cases).map(([run]) => run),
    );
  });

  test.each(Object.keys(cases).map((name, index) => [name, index] as const))("%s", (name, index) => {
    expect(driven.outcomes[index]).toMatchObject(cases[name]?.[1] ?? {});
  });

  test("all this in bounded memory", () => {
    expect(driven.peakBytes).toBeLessThan(300 * 1024 * 1024);
  });
});
