import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPrograms } from "./programs.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const spawnOptions = { environment: { PATH: "/usr/bin:/bin" }, folder, maxOutputBytes: 1024 };
const sh = (script: string) => ({ file: realpathSync("/bin/sh"), argv: ["sh", "-c", script] as const });

/** Resolves when a process has ended. A zombie counts as ended. */
async function gone(pid: number): Promise<void> {
  while (
    /^[^Z]/.test(
      Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)])
        .stdout.toString()
        .trim(),
    )
  ) {
    await Bun.sleep(5);
  }
}

/** Waits for the process id that a program writes to a file. */
async function pidIn(path: string): Promise<number> {
  while (!existsSync(path) || !readFileSync(path, "utf8").endsWith("\n")) await Bun.sleep(5);
  return Number(readFileSync(path, "utf8"));
}

describe("nothing is left behind", () => {
  const deaf = "trap '' TERM; sleep 600 >/dev/null 2>&1 & echo $!";

  test("by a run that ends, though the child holds no output", async () => {
    const { stdout } = await createPrograms(1).run(sh(deaf), spawnOptions, { timeoutMs: 60_000 });
    await gone(Number(stdout));
  });

  test("by a run whose time is up", async () => {
    const { stdout } = await createPrograms(1).run(sh(`${deaf}; wait`), spawnOptions, { timeoutMs: 500 });
    await gone(Number(stdout));
  });

  test("by a run that is not waited for any more", async () => {
    const controller = new AbortController();
    const path = join(folder, "aborted");
    const run = createPrograms(1).run(sh(`sleep 600 & echo $! > ${path}; wait`), spawnOptions, {
      timeoutMs: 60_000,
      signal: controller.signal,
    });
    const pid = await pidIn(path);
    controller.abort(new Error("not needed"));
    expect(run).rejects.toThrow("not needed");
    await gone(pid);
  });

  test("by a worker that stops, and nothing new starts", async () => {
    const programs = createPrograms(1);
    const path = join(folder, "stopped");
    const running = programs.run(sh(`sleep 600 & echo $! > ${path}; wait`), spawnOptions, {
      timeoutMs: 60_000,
    });
    const waiting = programs.run(sh("echo never"), spawnOptions, { timeoutMs: 60_000 });
    const refused = waiting.catch((error: unknown) => error);
    const pid = await pidIn(path);
    const starting = programs.start(sh("sleep 600"), spawnOptions).catch((error: unknown) => error);
    await programs.stopAll();
    await gone(pid);
    expect((await running).exit_code).toBeNull();
    for (const failure of [refused, starting]) expect(await failure).toMatchObject({ problem: "stopping" });
  });
});

test("a worker that fails takes its programs along", async () => {
  const script = `
    import { createPrograms } from ${JSON.stringify(join(import.meta.dir, "programs.ts"))};
    const programs = createPrograms(1);
    process.on("exit", () => programs.killAll());
    const program = { file: ${JSON.stringify(realpathSync("/bin/sleep"))}, argv: ["sleep", "600"] };
    await programs.start(program, { environment: {}, folder: "/", maxOutputBytes: 99 });
    const child = Bun.spawnSync(["pgrep", "-P", String(process.pid), "sleep"]).stdout;
    process.stdout.write(child, () => process.exit(1));
  `;
  const path = join(folder, "failing.mjs");
  writeFileSync(path, script);
  const { stdout } = Bun.spawn([process.execPath, path], { stderr: "inherit" });
  const pid = Number(await new Response(stdout).text());
  expect(pid).toBeGreaterThan(1);
  await gone(pid);
});

/**
 * A command that starts a process in another session, out of reach of signals to the group. The process holds
 * the outputs. The command prints its id.
 */
const fugitive = `"${process.execPath}" -e 'console.log(require("node:child_process").spawn("sleep", ["600"], { detached: true, stdio: "inherit" }).pid); process.exit()'`;

const descriptorCount = () => readdirSync("/dev/fd").length;

test("who holds the outputs and is out of reach holds up neither the answer nor descriptors", async () => {
  const programs = createPrograms(1);
  await programs.run(sh("exit"), spawnOptions, { timeoutMs: 60_000 });
  for (const [script, timeoutMs] of [
    [fugitive, 60_000],
    [`${fugitive}; sleep 600`, 2000],
  ] as const) {
    const before = descriptorCount();
    const { stdout } = await programs.run(sh(script), spawnOptions, { timeoutMs });
    while (descriptorCount() > before) await Bun.sleep(5);
    process.kill(Number(stdout), "SIGKILL");
  }
});

test("a run that is aborted before its turn never starts", async () => {
  const path = join(folder, "never");
  const signal = AbortSignal.abort(new Error("too late"));
  const run = createPrograms(1).run(sh(`touch ${path}`), spawnOptions, { timeoutMs: 60_000, signal });
  expect(run).rejects.toThrow("too late");
  expect(existsSync(path)).toBe(false);
});

test("runs beyond the bound wait for those before them", async () => {
  const programs = createPrograms(1);
  const path = join(folder, "turns");
  const script = sh(`echo begin >> ${path}; sleep 0.02; echo end >> ${path}`);
  await Promise.all([1, 2, 3].map(() => programs.run(script, spawnOptions, { timeoutMs: 60_000 })));
  expect(readFileSync(path, "utf8")).toBe("begin\nend\n".repeat(3));
});

test("64 runs at once each have their own whole output", async () => {
  const programs = createPrograms(64);
  const numbers = Array.from({ length: 64 }, (_, number) => number);
  const runs = numbers.map((number) =>
    programs.run(
      sh(`i=0; while [ $i -lt 2000 ]; do echo ${number}; i=$((i+1)); done`),
      { ...spawnOptions, maxOutputBytes: 65536 },
      { timeoutMs: 60_000 },
    ),
  );
  const results = await Promise.all(runs);
  expect(results.map(({ stdout }) => stdout)).toEqual(numbers.map((number) => `${number}\n`.repeat(2000)));
});

describe("a program opens its outputs by name", () => {
  test.each([
    ["/dev/stdout", "echo oops > /dev/stdout", { stdout: "oops\n", stderr: "" }],
    ["/dev/stderr", "echo oops > /dev/stderr", { stdout: "", stderr: "oops\n" }],
    ["/proc/self/fd/2", "echo oops > /proc/self/fd/2", { stdout: "", stderr: "oops\n" }],
    ["/dev/stderr, as tee(1) does", "echo oops | tee /dev/stderr", { stdout: "oops\n", stderr: "oops\n" }],
  ])("%s", async (_, script, outputs) => {
    const result = await createPrograms(1).run(sh(script), spawnOptions, { timeoutMs: 60_000 });
    expect(result).toMatchObject({ ...outputs, exit_code: 0 });
  });
});

test("64 silent programs hold up no other", async () => {
  const programs = createPrograms(65);
  const go = join(folder, "go");
  Bun.spawnSync(["mkfifo", go]);
  const silent = Array.from({ length: 64 }, () =>
    programs.run(sh(`exec 3<> ${go}; read -r line <&3; echo done`), spawnOptions, { timeoutMs: 60_000 }),
  );
  const { stdout } = await programs.run(sh("echo hi"), spawnOptions, { timeoutMs: 60_000 });
  expect(stdout).toBe("hi\n");
  await programs.run(sh(`yes | head -n 64 > ${go}`), spawnOptions, { timeoutMs: 60_000 });
  expect((await Promise.all(silent)).map((result) => result.stdout)).toEqual(silent.map(() => "done\n"));
});

test("what a program has left behind is ended for a reason, too", async () => {
  const running = await createPrograms(1).start(sh("sleep 600 & exit 0"), spawnOptions);
  await running.exited;
  await running.end("it fills the disk");
  expect(running.capture().stderr).toBe("ended: it fills the disk\n");
});

test("descriptors that run short fail the start, and the worker lives", async () => {
  const script = `
    import { openSync, closeSync } from "node:fs";
    import { createPrograms } from ${JSON.stringify(join(import.meta.dir, "programs.ts"))};
    const programs = createPrograms(1);
    const echo = () => programs.run(
      { file: ${JSON.stringify(realpathSync("/bin/echo"))}, argv: ["echo", "hi"] },
      { environment: {}, folder: "/", maxOutputBytes: 99 },
      { timeoutMs: 60_000 },
    ).then(({ stdout }) => stdout, ({ problem }) => problem);
    await echo();
    const opened = [];
    try { for (;;) opened.push(openSync("/dev/null", "r")); } catch {}
    const heard = new Set();
    for (;;) {
      const answer = await echo();
      heard.add(answer);
      if (answer === "hi\\n") break;
      closeSync(opened.pop());
    }
    console.log([...heard].join());
  `;
  const path = join(folder, "short.mjs");
  writeFileSync(path, script);
  const { stdout } = Bun.spawn(["sh", "-c", `ulimit -n 100; exec "${process.execPath}" ${path}`], {
    stderr: "inherit",
  });
  expect(await new Response(stdout).text()).toBe("exhausted,hi\n\n");
});

test("descriptors that run short after the launcher is prepared leave no group", async () => {
  const script = `
    import { openSync, closeSync } from "node:fs";
    import { startProgram } from ${JSON.stringify(join(import.meta.dir, "start.ts"))};
    const opened = [];
    let removed = 0;
    const launcher = (program) => {
      try { for (;;) opened.push(openSync("/dev/null", "r")); } catch {}
      const group = { kill() {}, isEmpty: () => true, remove: () => removed++ };
      return { ...program, descriptor: 0, group, [Symbol.dispose]: () => opened.forEach((each) => closeSync(each)) };
    };
    const program = { file: "/bin/echo", argv: ["echo"] };
    const options = { environment: {}, folder: "/", maxOutputBytes: 99, launcher };
    const { problem } = await startProgram(program, options, () => {}).catch((error) => error);
    console.log(problem, removed);
  `;
  const path = join(folder, "group.mjs");
  writeFileSync(path, script);
  const { stdout } = Bun.spawn(["sh", "-c", `ulimit -n 100; exec "${process.execPath}" ${path}`], {
    stderr: "inherit",
  });
  expect(await new Response(stdout).text()).toBe("exhausted 1\n");
});
