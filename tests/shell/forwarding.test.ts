/** Weaknesses of the original in forwarded calls that this worker does not have. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf, expectCode, waitForJob } from "./case.ts";
import type { Reply } from "./sandbox.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

const target = { kind: "sandbox", sandbox_id: "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9" };
const command = { command: "echo hi", timeout_ms: 100, target };
const done = { stdout: "out\n", stderr: "", exit_code: 0, duration_ms: 7, timed_out: false };

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  beforeAll(async () => {
    served = await startShell(subject);
  });
  afterAll(() => served.stop());

  const replying = (reply: Reply | (() => Promise<Reply>)) => {
    served.sandbox.reply = typeof reply === "function" ? reply : () => reply;
    return served;
  };

  test("an answer that takes longer than the command may is waited for", async () => {
    const { call } = replying(async () => {
      await Bun.sleep(1000);
      return { result: { ...done, timed_out: true, exit_code: null } };
    });
    expect(answerOf(await call("shell::exec", command))).toMatchObject({ timed_out: true });
  });

  test.each([
    ["another failure of the same kind", "S200", "the agent in the VM is gone"],
    ["a timeout of another kind", "S102", "pulling the image timed out"],
  ])("%s is no result", async (_, code, message) => {
    const { call } = replying({ error: { code, message } });
    expectCode(await call("shell::exec", command), code, message);
  });

  test("a job and a command end alike when their time is up", async () => {
    const { call } = replying({ error: { code: "S200", message: "exec timed out after 100 ms" } });
    expect(answerOf(await call("shell::exec", command))).toMatchObject({ timed_out: true });
    const { job_id } = answerOf(await call("shell::exec_bg", command));
    expect(await waitForJob(served, job_id)).toMatchObject({ status: "killed", stderr: "" });
  });

  test("a program that a signal ended has no exit code", async () => {
    const { call } = replying({ result: { ...done, exit_code: null } });
    expect(answerOf(await call("shell::exec", command))).toMatchObject({ exit_code: null, stdout: "out\n" });
  });
});
