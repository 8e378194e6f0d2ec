/** What commands are kept from, each with a control: the same attempt without the sandbox gets through. */
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
import { repository } from "../../harness/subject.ts";
import { isAlive, readPid } from "../alive.ts";
import { answerOf, waitFor } from "../case.ts";
import { type ShellFixture, startShell } from "../shell-fixture.ts";
import { hasGroups, openScene, type Scene } from "./scene.ts";

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

/** What gets through without the sandbox, and is stopped in it. */
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

/** A copy of id(1) with the rights of another user, which only root can make. */
const setUserId: Readonly<Record<string, Attempt>> = {
  "gain the rights of a set-user-ID program": ({ shared }) => {
    const path = join(shared, "id");
    copyFileSync("/usr/bin/id", path);
    chownSync(path, otherUser, otherUser);
    chmodSync(path, 0o4755);
    return ["set-user-id", path, otherUser];
  },
};

/** Not that of the worker, nor the one that an attempt becomes. */
const otherUser = 4242;

/** What the kernel ends. */
const deadly: Readonly<Record<string, Attempt>> = {
  "take much processor time": () => ["processor-time"],
};

/** What ends with a reason. */
const ended: Readonly<Record<string, Attempt>> = {
  "make many files": ({ inside }) => ["many-files", inside("."), 20_000, 0],
  "fill the disk with many files": ({ inside }) => ["many-files", inside("."), 1000, mebibyte],
};

/** What only control groups stop. */
const processesOfRoot: Readonly<Record<string, Attempt>> = {
  "run many processes as root": () => ["processes-of-root", 100],
};

/** What goes on as usual, in folders that hold nothing denied themselves. */
const allowed: Readonly<Record<string, Attempt>> = {
  "make a file": ({ inside }) => ["create", inside("new")],
  "change a file": ({ inside }) => ["append", inside("there")],
  "empty a file": ({ inside }) => ["truncate", inside("there")],
  "remove a file": ({ inside }) => ["remove", inside("there")],
  "make a folder": ({ inside }) => ["mkdir", inside("new")],
  "move a file": ({ inside }) => ["rename", inside("there"), inside("new")],
  "write to /dev/null": () => ["append", "/dev/null"],
  "read /dev/zero": () => ["read-some", "/dev/zero"],
};

let free: ShellFixture;
let confined: ShellFixture;
/** Other programs change what is free, too: only these attempts are made here. */
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
    // Users without rights have RLIMIT_NPROC. Root without control groups has nothing.
    const isBound = hasGroups(confined) || process.getuid?.() !== 0;
    expect(trial).toMatchObject(isBound ? { stdout: expect.stringMatching(/^stopped: /) } : through);
  });
});

describe("a command can", () => {
  test.each(Object.entries(allowed))("%s", async (_, attempt) => {
    expect(await outcomes(attempt)).toMatchObject([through, through]);
  });
});

test("a command has three descriptors, and the variables that the policy names", async () => {
  const runs = [
    [free, ["PATH"]],
    [confined, ["PATH", "TMPDIR"]],
  ] as const;
  for (const [served, names] of runs) {
    const path = join(mkdtempSync(join(served.folder, "case-")), "id");
    // The last command keeps bash from becoming sleep, whose loader would still hold libraries open.
    const args = ["-c", `echo $$ > ${path}; sleep 900; :`];
    const { job_id } = answerOf(await served.call("shell::exec_bg", { command: "bash", args }));
    const id = await readPid(path);
    // Once it has a child, bash has taken back the redirection.
    await waitFor(() => readFileSync(`/proc/${id}/task/${id}/children`, "utf8") || undefined);
    expect(readdirSync(`/proc/${id}/fd`)).toEqual(["0", "1", "2"]);
    const variables = readFileSync(`/proc/${id}/environ`, "utf8").split("\0").slice(0, -1);
    expect(variables.map((variable) => variable.split("=")[0]!).toSorted()).toEqual([...names]);
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
