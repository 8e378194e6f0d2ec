/** Limits of commands, each with a control: without the sandbox, the same attempt gets through. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { repository } from "../../harness/subject.ts";
import { isAlive, readPid } from "../alive.ts";
import { answerOf, waitFor } from "../case.ts";
import { type ShellFixture, startShell } from "../shell-fixture.ts";
import { hasGroups, hidesProcesses, openScene, type Scene } from "./scene.ts";

const program = join(import.meta.dir, "attempts.ts");
const mebibyte = 1024 * 1024;

const config = {
  allowlist: [process.execPath, "bash"],
  allowed_env: ["PATH"],
  default_timeout_ms: 20_000,
  max_timeout_ms: 20_000,
  fs: {
    host_root: "<folder>",
    denylist_paths: ["<folder>/kept/secret.txt", "<folder>/../outside/secret.txt"],
  },
  limits: {
    cpu_seconds: 1,
    memory_bytes: 4096 * mebibyte,
    file_bytes: mebibyte,
    open_files: 256,
    processes: 64,
  },
};

type Attempt = (scene: Scene) => readonly [name: string, ...args: (string | number)[]];

/** Attempts that get through without the sandbox, and that it stops. */
const attempts: Readonly<Record<string, Attempt>> = {
  "make a file outside": ({ outside }) => ["create", outside("new")],
  "change a file outside": ({ outside }) => ["append", outside("there")],
  "empty a file outside": ({ outside }) => ["truncate", outside("there")],
  "remove a file outside": ({ outside }) => ["remove", outside("there")],
  "make a folder outside": ({ outside }) => ["mkdir", outside("new")],
  "move a file out": ({ inside, outside }) => ["rename", inside("there"), outside("new")],
  "move a file in": ({ inside, outside }) => ["rename", outside("there"), inside("new")],
  "change a file outside by a link": ({ inside, outside }) => [
    "append-by-link",
    outside("there"),
    inside("link"),
  ],
  "change a file outside by a hard link": ({ inside, outside }) => [
    "append-by-hard-link",
    outside("there"),
    inside("link"),
  ],
  "read a denied file": ({ secret }) => ["read", secret],
  "read a denied file outside": ({ outside }) => ["read", join(dirname(outside("")), "secret.txt")],
  "read what is in /dev besides the usual devices": ({ besideDevices }) => ["read", besideDevices],
  "read a denied file by /proc/self/root": ({ secret }) => ["read", `/proc/self/root${secret}`],
  "read a denied file by the root of another process": ({ secret, target }) => [
    "read",
    `/proc/${target.id}/root${secret}`,
  ],
  "read a denied file by a link": ({ secret, inside }) => ["read-by-link", secret, inside("link")],
  "read a denied file by a hard link": ({ secret, inside }) => ["read-by-hard-link", secret, inside("link")],
  "read a denied file by a hard link made before": ({ secretLink }) => ["read", secretLink],
  "read a denied file by what another process holds": ({ target }) => ["read-by-descriptors", target.id],
  "change a denied file": ({ secret }) => ["append", secret],
  "connect by TCP": ({ target }) => ["connect-tcp", target.tcp],
  "listen by TCP": () => ["bind-tcp"],
  "send by UDP": ({ target }) => ["send-udp", target.udp],
  "connect to an abstract socket": ({ abstractName }) => ["connect-abstract", abstractName],
  "connect to a socket of another program": ({ socket }) => ["connect-unix", socket],
  "send to a socket of another program by a pair of sockets": ({ datagrams }) => [
    "send-from-pair",
    datagrams,
  ],
  "change the flags of a file outside": ({ outside }) => ["set-flags", outside("there")],
  "set the processors of another program": ({ target }) => ["affinity", target.id],
  "set the priority of another program": ({ target }) => ["priority", target.id],
  "signal the worker": () => ["signal-parent"],
  "signal another program": ({ target }) => ["signal", target.id],
  "trace another program": ({ target }) => ["trace", target.id],
  "read the environment of another program": ({ target }) => ["environment", target.id],
  "open the memory of another program": ({ target }) => ["memory", target.id],
  "read the limits of another program": ({ target }) => ["limits", target.id],
  "gain privileges by execve": () => ["gain-privileges"],
  "run many processes": () => ["processes", 100],
  "write a large file": ({ inside }) => ["file-size", inside("large"), 2 * mebibyte],
  "take much memory": () => ["memory-size", 6],
  "open many files": () => ["open-files", 400],
};

/** Runs a copy of id(1) with the rights of another user, which only root can make. */
const setUserId: Readonly<Record<string, Attempt>> = {
  "gain the rights of a set-user-ID program": ({ shared }) => {
    const path = join(shared, "id");
    copyFileSync("/usr/bin/id", path);
    chownSync(path, otherUser, otherUser);
    chmodSync(path, 0o4755);
    return ["set-user-id", path, otherUser];
  },
};

/** A user different from that of the worker and from the one that an attempt switches to. */
const otherUser = 4242;

/** Attempts whose process the kernel kills. */
const deadly: Readonly<Record<string, Attempt>> = {
  "take much processor time": () => ["processor-time"],
};

/** Attempts that the worker ends, with a reason in the answer. */
const ended: Readonly<Record<string, Attempt>> = {
  "make many files": ({ inside }) => ["many-files", inside("."), 20_000, 0],
  "fill the disk with many files": ({ inside }) => ["many-files", inside("."), 1000, mebibyte],
};

/** Attempts that only control groups can stop. */
const processesOfRoot: Readonly<Record<string, Attempt>> = {
  "run many processes as root": () => ["processes-of-root", 100],
};

/** Attempts that only a separate /proc can stop. Commands have one if the worker runs as root. */
const seenInProc: Readonly<Record<string, Attempt>> = {
  "read the command line of another program": ({ target }) => ["command-line", target.id],
  "read the mounts of another program": ({ target }) => ["mounts", target.id],
  "list the processes of others": ({ target }) => ["list-processes", target.id],
};

/** Attempts that the sandbox allows in folders without denied files. */
const allowed: Readonly<Record<string, Attempt>> = {
  "make a file": ({ inside }) => ["create", inside("new")],
  "change a file": ({ inside }) => ["append", inside("there")],
  "empty a file": ({ inside }) => ["truncate", inside("there")],
  "remove a file": ({ inside }) => ["remove", inside("there")],
  "make a folder": ({ inside }) => ["mkdir", inside("new")],
  "move a file": ({ inside }) => ["rename", inside("there"), inside("new")],
  "write to /dev/null": () => ["append", "/dev/null"],
  "set its own processors and priority": () => ["own-priority"],
  "read /dev/zero": () => ["read-some", "/dev/zero"],
};

let free: ShellFixture;
let confined: ShellFixture;
/** A worker with disk limits. Other programs change the free space too, so only few attempts use it. */
let narrow: ShellFixture;
let scenes: Awaited<ReturnType<typeof openScene>>[] = [];
beforeAll(async () => {
  free = await startShell("executable", { ...config, os_sandbox: "off" });
  confined = await startShell("executable", { ...config, os_sandbox: "required" });
  const limits = { ...config.limits, cpu_seconds: 60, disk_bytes: 64 * mebibyte, disk_files: 500 };
  narrow = await startShell("executable", { ...config, os_sandbox: "required", limits });
  scenes = [await openScene(free), await openScene(confined), await openScene(narrow)];
});
afterAll(async () => {
  for (const scene of scenes) scene.close();
  await free?.stop();
  await confined?.stop();
  await narrow?.stop();
});

async function outcomes(attempt: Attempt, trial = confined) {
  const results = [];
  for (const served of [free, trial]) {
    const index = [free, confined, narrow].indexOf(served);
    const args = [program, ...attempt(scenes[index]!.newScene()).map(String)];
    results.push(answerOf(await served.call("shell::exec", { command: process.execPath, args })));
  }
  return results as [Record<string, unknown>, Record<string, unknown>];
}

const through = { exit_code: 0, stdout: "got through\n", stderr: "" };

test("the attempts are those of the published table", () => {
  const page = readFileSync(join(repository, "docs/os-sandbox.md"), "utf8");
  const rows = [...page.matchAll(/^\| (?!attempt|---)(.+?) \| /gm)].map(([, attempt]) => attempt!);
  const made = [
    ...Object.keys(attempts),
    ...Object.keys(setUserId),
    ...Object.keys(deadly),
    ...Object.keys(ended),
    ...Object.keys(processesOfRoot),
    ...Object.keys(seenInProc),
  ];
  expect(rows.toSorted()).toEqual(made.toSorted());
});

describe("a command cannot", () => {
  const all = { ...attempts, ...(process.getuid?.() === 0 && setUserId) };
  test.each(Object.entries(all))("%s", async (_, attempt) => {
    const [control, trial] = await outcomes(attempt);
    expect(control).toMatchObject(through);
    expect(trial).toMatchObject({ exit_code: 0, stdout: expect.stringMatching(/^stopped: /), stderr: "" });
  });

  test.each(Object.entries(deadly))("%s", async (_, attempt) => {
    const [control, trial] = await outcomes(attempt);
    expect(control).toMatchObject(through);
    expect(trial).toMatchObject({ stdout: "", timed_out: false });
    expect(trial["exit_code"]).not.toBe(0);
  });

  test.each(Object.entries(ended))("%s", async (_, attempt) => {
    const [control, trial] = await outcomes(attempt, narrow);
    expect(control).toMatchObject(through);
    const stderr = expect.stringMatching(/^ended: the file system has .* limits\.disk_(bytes|files) allows/);
    expect(trial).toMatchObject({ exit_code: null, stdout: "", stderr, timed_out: false });
  });

  test.each(Object.entries(processesOfRoot))("%s", async (_, attempt) => {
    const [control, trial] = await outcomes(attempt);
    expect(control).toMatchObject(through);
    // Users without rights are limited by RLIMIT_NPROC. Root is not limited without control groups.
    const isBound = hasGroups(confined) || process.getuid?.() !== 0;
    expect(trial).toMatchObject(isBound ? { stdout: expect.stringMatching(/^stopped: /) } : through);
  });

  test.each(Object.entries(seenInProc))("%s", async (_, attempt) => {
    const [control, trial] = await outcomes(attempt);
    expect(control).toMatchObject(through);
    expect(trial).toMatchObject(
      hidesProcesses(confined) ? { stdout: expect.stringMatching(/^stopped: /) } : through,
    );
  });
});

test("the worker hides processes for root, where nothing is mounted below /proc", () => {
  const points = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "");
  const isPlain = points.every((point) => !point.startsWith("/proc/") || point.endsWith("/binfmt_misc"));
  expect(hidesProcesses(confined)).toBe(process.getuid?.() === 0 && isPlain);
});

describe("a command can", () => {
  test.each(Object.entries(allowed))("%s", async (_, attempt) => {
    expect(await outcomes(attempt)).toMatchObject([through, through]);
  });
});

test("a command has three descriptors, and the variables that the policy names", async () => {
  const runs = [
    [free, ["PATH"]],
    // npm must not retry requests that the sandbox has blocked.
    [confined, ["PATH", "TMPDIR", "npm_config_fetch_retries"]],
  ] as const;
  for (const [served, names] of runs) {
    const path = join(mkdtempSync(join(served.folder, "case-")), "id");
    // The last command keeps bash from replacing itself by sleep, whose loader would still hold libraries
    // open.
    const args = ["-c", `echo $$ > ${path}; sleep 900; :`];
    const { job_id } = answerOf(await served.call("shell::exec_bg", { command: "bash", args }));
    const id = await readPid(path);
    // Once bash has a child, it has undone the redirection.
    await waitFor(() => readFileSync(`/proc/${id}/task/${id}/children`, "utf8") || undefined);
    expect(readdirSync(`/proc/${id}/fd`)).toEqual(["0", "1", "2"]);
    const variables = readFileSync(`/proc/${id}/environ`, "utf8").split("\0").slice(0, -1);
    const given = variables.map((variable) => variable.split("=")[0]!);
    // The settings that make git ignore hidden files are variables too.
    expect(given.filter((name) => !name.startsWith("GIT_CONFIG_")).toSorted()).toEqual([...names]);
    await served.call("shell::kill", { job_id });
  }
});

test("a command is killed before the worker when memory runs out", async () => {
  const scores = [];
  for (const served of [free, confined]) {
    const args = ["-c", "read score < /proc/self/oom_score_adj; echo $score"];
    scores.push(answerOf(await served.call("shell::exec", { command: "bash", args }))["stdout"]);
  }
  const own = readFileSync(`/proc/${confined.worker.child.pid}/oom_score_adj`, "utf8");
  expect(scores).toEqual([own, "1000\n"]);
  expect(own).not.toBe("1000\n");
});

test("a command that forks twice, with a session of its own, does not outlive its call", async () => {
  const survivors = [];
  for (const served of [free, confined]) {
    const path = join(mkdtempSync(join(served.folder, "case-")), "id");
    const line = `(setsid bash -c 'sleep 900 & echo $! > ${path}' < /dev/null &> /dev/null &); until [ -s ${path} ]; do sleep 0.01; done`;
    const answer = await served.call("shell::exec", { command: "bash", args: ["-c", line] });
    expect(answerOf(answer)).toMatchObject({ exit_code: 0, stderr: "" });
    const id = Number(readFileSync(path, "utf8"));
    survivors.push(isAlive(id));
    if (isAlive(id)) process.kill(id, "SIGKILL");
  }
  expect(survivors).toEqual([true, false]);
});

test("the temporary folder of commands is theirs, and gone with the worker", async () => {
  const served = await startShell("executable", { ...config, os_sandbox: "required" });
  const line = "stat -c %a $TMPDIR; echo x > $TMPDIR/file && echo $TMPDIR";
  const { stdout } = answerOf(await served.call("shell::exec", { command: "bash", args: ["-c", line] }));
  const [mode, folder] = String(stdout).split("\n");
  expect(mode).toBe("700");
  expect(existsSync(join(folder!, "file"))).toBe(true);
  await served.stop();
  expect(existsSync(folder!)).toBe(false);
});

describe("with the network", () => {
  let networked: ShellFixture;
  beforeAll(async () => {
    networked = await startShell("executable", { ...config, os_sandbox: "required", network: true });
  });
  afterAll(() => networked.stop());

  test.each([
    ["connect by TCP", "got through\n"],
    ["listen by TCP", "got through\n"],
    ["send by UDP", "got through\n"],
    ["connect to an abstract socket", expect.stringMatching(/^stopped/)],
    ["connect to a socket of another program", expect.stringMatching(/^stopped/)],
  ])("%s: %s", async (name, stdout) => {
    const args = [program, ...attempts[name]!(scenes[1]!.newScene()).map(String)];
    expect(answerOf(await networked.call("shell::exec", { command: process.execPath, args }))).toMatchObject({
      stdout,
    });
  });
});

describe("with loopback", () => {
  let looped: ShellFixture;
  beforeAll(async () => {
    looped = await startShell("executable", {
      ...config,
      os_sandbox: "required",
      network: "loopback",
      max_concurrent_jobs: 8,
    });
  });
  afterAll(() => looped.stop());

  const run = async (served: ShellFixture, ...args: string[]) =>
    answerOf(await served.call("shell::exec", { command: process.execPath, args: [program, ...args] }));

  /** Starts a server as a job, which ends together with the worker. */
  async function serve(address: string): Promise<string> {
    const path = join(mkdtempSync(join(looped.folder, "case-")), "port");
    const args = [program, "serve", address, path];
    answerOf(await looped.call("shell::exec_bg", { command: process.execPath, args }));
    return waitFor(() => (existsSync(path) ? readFileSync(path, "utf8") : undefined));
  }

  test("the worker says whether the system has a network for commands alone", async () => {
    const user = process.getuid?.() === 0 ? [] : ["--map-root-user"];
    const { failed } = await execa("unshare", [...user, "--net", "true"], { reject: false });
    expect(looped.worker.stderr()).toContain(`"network":"${failed ? "none" : "loopback"}"`);
  });

  test.each(["127.0.0.1", "::1", "0.0.0.0"])(
    "commands reach one another on %s, and no other program does",
    async (address) => {
      const port = await serve(address);
      expect(await run(looped, "fetch", address, port)).toMatchObject(through);
      for (const other of [free, confined])
        expect(await run(other, "fetch", address, port)).toMatchObject({
          stdout: expect.stringMatching(/^stopped/),
        });
    },
  );

  test.each([
    "connect by TCP",
    "connect to an abstract socket",
    "connect to a socket of another program",
    "send to a socket of another program by a pair of sockets",
  ])("a command cannot %s", async (name) => {
    const attempt = attempts[name]!(scenes[1]!.newScene()).map(String);
    expect(await run(free, ...attempt)).toMatchObject(through);
    expect(await run(looped, ...attempt)).toMatchObject({ stdout: expect.stringMatching(/^stopped/) });
  });

  test("commands of another worker have another network", async () => {
    const other = await startShell("executable", { ...config, os_sandbox: "required", network: "loopback" });
    const port = await serve("127.0.0.1");
    expect(await run(looped, "fetch", "127.0.0.1", port)).toMatchObject(through);
    expect(await run(other, "fetch", "127.0.0.1", port)).toMatchObject({
      stdout: expect.stringMatching(/^stopped/),
    });
    await other.stop();
  });
});
