import { expect } from "bun:test";
import { answerOf, expectCode, expectPlain, ShellCases, waitFor, waitForJob } from "../case.ts";
import type { Reply } from "../sandbox.ts";
import type { ShellFixture } from "../shell-fixture.ts";

const id = "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9";
const target = { kind: "sandbox", sandbox_id: id };
const done = { stdout: "out\n", stderr: "", exit_code: 0, duration_ms: 7, timed_out: false };

const entry = { name: "a", is_dir: false, is_symlink: false, size: 2, mode: "0644", mtime: 1 };
const channel = { channel_id: "c-1", access_key: "k-1", direction: "read" };

/** For each function, a request, its fields as forwarded, and an answer. */
const forwarded: readonly (readonly [op: string, request: object, fields: object, answer: object])[] = [
  ["ls", { path: "/a" }, { path: "/a" }, { entries: [entry] }],
  ["stat", { path: "/a" }, { path: "/a" }, entry],
  ["mkdir", { path: "/a" }, { path: "/a", mode: "0755", parents: false }, { created: true }],
  ["rm", { path: "/a" }, { path: "/a", recursive: false }, { removed: true }],
  [
    "chmod",
    { path: "/a", mode: "0600" },
    { path: "/a", mode: "0600", uid: null, gid: null, recursive: false },
    { updated: 1 },
  ],
  ["mv", { src: "/a", dst: "/b" }, { src: "/a", dst: "/b", overwrite: false }, { moved: true }],
  [
    "grep",
    { path: "/a", pattern: "x" },
    {
      path: "/a",
      pattern: "x",
      recursive: true,
      ignore_case: false,
      include_glob: [],
      exclude_glob: [],
      max_matches: 10_000,
      max_line_bytes: 4096,
    },
    { matches: [{ path: "/a", line: 1, content: "x" }], truncated: false },
  ],
  [
    "sed",
    { files: ["/a"], pattern: "x", replacement: "y" },
    {
      files: ["/a"],
      path: null,
      recursive: true,
      include_glob: [],
      exclude_glob: [],
      pattern: "x",
      replacement: "y",
      regex: true,
      first_only: false,
      ignore_case: false,
    },
    { results: [{ path: "/a", replacements: 1, success: true }], total_replacements: 1 },
  ],
  ["read", { path: "/a" }, { path: "/a" }, { content: channel, size: 2, mode: "0644", mtime: 1 }],
  [
    "write",
    { path: "/a", content: { channel_id: "c-1", access_key: "k-1" } },
    { path: "/a", mode: "0644", parents: false, content: channel },
    { bytes_written: 2, path: "/a" },
  ],
];

/** Makes a call that the sandbox worker answers with `reply`. Returns the calls that it received. */
async function exchange(served: ShellFixture, functionId: string, payload: object, reply: Reply) {
  const { sandbox } = served;
  sandbox.reply = () => reply;
  const before = sandbox.received.length;
  const outcome = await served.call(functionId, { ...payload, target });
  return { outcome, received: sandbox.received.slice(before) };
}

const failed = (code: string, message: string): Reply => ({ error: { code, message } });
const wrapped = (code: string, message: string): Reply =>
  failed("invocation_failed", `handler error: {"type":"x","code":"${code}","message":"${message}"}`);

const ls = (served: ShellFixture, reply: Reply) => exchange(served, "shell::fs::ls", { path: "/a" }, reply);
const exec = (served: ShellFixture, reply: Reply, more: object = {}) =>
  exchange(served, "shell::exec", { command: "echo hi", ...more }, reply);

const timedOut = {
  stdout: "",
  stderr: "",
  exit_code: null,
  duration_ms: 300,
  timed_out: true,
  stdout_truncated: false,
  stderr_truncated: false,
};

const usual = new ShellCases("shell::exec");
for (const [op, request, fields, answer] of forwarded) {
  usual.script(185, `${op} is forwarded`, async (served) => {
    const { outcome, received } = await exchange(served, `shell::fs::${op}`, request, { result: answer });
    expect(received).toEqual([{ functionId: `sandbox::fs::${op}`, payload: { sandbox_id: id, ...fields } }]);
    expect(answerOf(outcome)).toEqual(answer as Record<string, unknown>);
  });
}
usual
  .script(186, "stat is answered flat", async (served) => {
    const { outcome } = await exchange(served, "shell::fs::stat", { path: "/a" }, { result: entry });
    expect(answerOf(outcome)).toEqual(entry);
  })
  .script(187, "codes of the engine are kept", async (served) => {
    for (const code of ["S211", "S002", "S217", "S213"]) {
      expectCode((await ls(served, failed(code, "gone"))).outcome, code, "forwarded from engine", "gone");
      expectCode((await ls(served, wrapped(code, "gone"))).outcome, code, "forwarded from engine (wrapped)");
    }
  })
  .script(188, "S214 is kept", async (served) => {
    expectCode((await ls(served, failed("S214", "not empty"))).outcome, "S214");
  })
  .script(189, "a code that is none", async (served) => {
    for (const message of ["S299: x", "no code", "fooS211bar"]) {
      expectCode((await ls(served, failed("invocation_failed", message))).outcome, "S216");
    }
    expectCode((await ls(served, failed("S299", "x"))).outcome, "S216");
  })
  .script(190, "an answer that is none", async (served) => {
    const answers = [{}, null, { entries: "x" }, { entries: [{ ...entry, size: null }] }, 7];
    for (const result of answers) {
      expectCode((await ls(served, { result })).outcome, "S216", "bad engine response");
    }
    for (const result of [{}, null, { ...done, stdout: 1 }, { ...done, exit_code: "0" }]) {
      expectCode((await exec(served, { result })).outcome, "S216", "bad engine response");
    }
  })
  .script(191, "more fields than there should be", async (served) => {
    const { outcome } = await ls(served, { result: { entries: [{ ...entry, more: 1 }], more: [] } });
    expect(answerOf(outcome)).toEqual({ entries: [entry] });
    expect(answerOf((await exec(served, { result: { ...done, more: 1 } })).outcome)).not.toHaveProperty(
      "more",
    );
  })
  .script(193, "the limits of the host do not count", async (served) => {
    const request = { path: "/a", content: channel };
    const result = { bytes_written: 2 * 1024 * 1024, path: "/a" };
    const { outcome } = await exchange(served, "shell::fs::write", request, { result });
    expect(answerOf(outcome)).toEqual(result);
  })
  .script(194, "a reference passes untouched", async (served) => {
    const content = { channel_id: "no channel", access_key: "no key", direction: "read" };
    const result = { content, size: 1, mode: "0600", mtime: 2 };
    const { outcome } = await exchange(served, "shell::fs::read", { path: "/a" }, { result });
    expect(answerOf(outcome)).toEqual(result);
  })
  .script(195, "read carries no content", async (served) => {
    const result = { content: channel, size: 1, mode: "0600", mtime: 2 };
    const request = { path: "/a", content: channel };
    const { received } = await exchange(served, "shell::fs::read", request, { result });
    expect(received[0]?.payload).toEqual({ sandbox_id: id, path: "/a" });
  })
  .script(196, "exec is forwarded", async (served) => {
    const { outcome, received } = await exec(served, { result: done }, { timeout_ms: 300 });
    expect(received).toEqual([
      {
        functionId: "sandbox::exec",
        payload: { sandbox_id: id, cmd: "echo", args: ["hi"], timeout_ms: 300 },
      },
    ]);
    expect(answerOf(outcome)).toEqual({ ...done, stdout_truncated: false, stderr_truncated: false });
  })
  .script(196, "any spelling of the id", async (served) => {
    served.sandbox.reply = () => ({ result: done });
    const spellings = [id.toUpperCase(), id.replaceAll("-", ""), `{${id}}`, `urn:uuid:${id}`];
    for (const sandbox_id of spellings) {
      const payload = { command: "pwd", target: { kind: "sandbox", sandbox_id } };
      answerOf(await served.call("shell::exec", payload));
      expect(served.sandbox.received.at(-1)?.payload["sandbox_id"]).toBe(id);
    }
  })
  .script(197, "no arguments", async (served) => {
    const { received } = await exec(served, { result: done }, { command: "pwd" });
    expect(received[0]?.payload).toMatchObject({ cmd: "pwd", args: [] });
  })
  .script(198, "a timeout of the engine is a result", async (served) => {
    const { outcome } = await exec(served, failed("S200", "exec timed out after 300 ms"), {
      timeout_ms: 300,
    });
    expect(answerOf(outcome)).toEqual(timedOut);
  })
  .script(199, "the same, wrapped", async (served) => {
    const { outcome } = await exec(served, wrapped("S200", "exec timed out after 300 ms"), {
      timeout_ms: 300,
    });
    expect(answerOf(outcome)).toEqual(timedOut);
  })
  .script(200, "S300 is kept", async (served) => {
    expectCode((await exec(served, failed("S300", "cannot boot"))).outcome, "S300", "cannot boot");
  })
  .script(201, "the allowlist holds for sandboxes", async (served) => {
    const { outcome, received } = await exec(served, { result: done }, { command: "nmap" });
    expectPlain(outcome, "not in allowlist");
    expect(received).toEqual([]);
  })
  .script(202, "the timeout is cut", async (served) => {
    const { received } = await exec(served, { result: done }, { timeout_ms: 60_000 });
    expect(received[0]?.payload["timeout_ms"]).toBe(5000);
  })
  .script(203, "an unknown sandbox", async (served) => {
    expectCode((await exec(served, wrapped("S002", "no such sandbox"))).outcome, "S002");
  })
  .script(84, "how a job in a sandbox ends", async (served) => {
    const job = async (reply: Reply) => {
      const { outcome } = await exchange(served, "shell::exec_bg", { command: "echo hi" }, reply);
      return waitForJob(served, answerOf(outcome)["job_id"]);
    };
    expect(await job({ result: done })).toMatchObject({ status: "finished", exit_code: 0, stdout: "out\n" });
    expect(await job({ result: { ...done, exit_code: 3 } })).toMatchObject({
      status: "failed",
      exit_code: 3,
    });
    expect(await job({ result: { ...done, timed_out: true } })).toMatchObject({ status: "killed" });
    expect(await job(failed("S300", "cannot boot"))).toMatchObject({
      status: "failed",
      stderr: expect.stringMatching(/S300.*cannot boot/),
    });
    expect(await job({ result: {} })).toMatchObject({
      status: "failed",
      stderr: expect.stringContaining("bad engine response"),
    });
  })
  .script(85, "a late answer to a killed job", async (served) => {
    let release: (reply: Reply) => void = () => {};
    const held = new Promise<Reply>((resolve) => {
      release = resolve;
    });
    served.sandbox.reply = () => held;
    const { job_id } = answerOf(await served.call("shell::exec_bg", { command: "echo hi", target }));
    const status = async () =>
      answerOf(await served.call("shell::status", { job_id }))["job"] as Record<string, unknown>;
    await served.call("shell::kill", { job_id });
    const killed = await status();
    expect(killed).toMatchObject({ status: "killed", stdout: "" });
    release({ result: { ...done, stdout: "late\n" } });
    const late = await waitFor(async () => {
      const record = await status();
      return record["stdout"] === "" ? undefined : record;
    });
    expect(late).toEqual({ ...killed, stdout: "late\n", exit_code: 0 });
  })
  .script(86, "killing a job in a sandbox", async (served) => {
    served.sandbox.reply = () => new Promise(() => {});
    const { job_id } = answerOf(await served.call("shell::exec_bg", { command: "echo hi", target }));
    const answer = answerOf(await served.call("shell::kill", { job_id }));
    expect(answer).toMatchObject({ killed: true, status: "killed" });
    expect(answer["reason"]).toMatch(/sandbox::exec.*timeout_ms/);
  });

const withDefaults = new ShellCases("shell::exec", {
  max_timeout_ms: null,
  default_timeout_ms: null,
}).script(37, "how long a command may run", async (served) => {
  const asked = async (more: object) =>
    (await exec(served, { result: done }, more)).received[0]?.payload["timeout_ms"];
  expect(await asked({ timeout_ms: 60_000 })).toBe(30_000);
  expect(await asked({ timeout_ms: 5000 })).toBe(5000);
  expect(await asked({})).toBe(10_000);
});

const disabled = new ShellCases("shell::exec", { sandbox: { enabled: false } });
for (const [op, request] of [
  ...forwarded.map(([op, request]) => [`fs::${op}`, request] as const),
  ["exec", { command: "echo hi" }] as const,
  ["exec_bg", { command: "echo hi" }] as const,
]) {
  disabled.script(192, `${op} while sandboxes are disabled`, async (served) => {
    const { outcome, received } = await exchange(served, `shell::${op}`, request, { result: done });
    expectCode(outcome, "S210", "disabled");
    expect(received).toEqual([]);
  });
}

export const cases = [usual, withDefaults, disabled].flatMap(({ all }) => all);
