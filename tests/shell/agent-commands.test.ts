/** Commands in the profile `agent`, where their answers differ from those of 0.3.5 (shell §15). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf, expectCode, expectPlain } from "./case.ts";
import { jailed } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

const agent = { ...jailed(), profile: "agent", os_sandbox: "off" };

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  beforeAll(async () => {
    served = await startShell(subject, agent);
  });
  afterAll(() => served.stop());

  const call = (id: string, payload: unknown) => served.call(`shell::${id}`, payload);

  test("a command with a snapshot that cannot be held does not run", async () => {
    const command = { command: "sh", args: ["-c", "echo x > made"], snapshot: ["made"] };
    for (const id of ["exec", "exec_bg"])
      expectPlain(await call(id, command), "`snapshot`", "no", "Nothing was run", "`journal`");
    expect(existsSync(join(served.folder, "made"))).toBe(false);
  });

  test("a payload that is no object is told what to send", async () => {
    for (const payload of [null, [], "ls"]) expectCode(await call("exec", payload), "S210", "command");
    expectCode(await call("status", null), "S210", "`job_id`");
    expectCode(await call("list", null), "S210", "The payload is null; expected an object, such as {}.");
  });

  test("a missing folder to start in is told no function of another worker", async () => {
    for (const id of ["exec", "exec_bg"]) {
      const outcome = await call(id, { command: "pwd", cwd: "nope" });
      expectCode(outcome, "S211", '"nope" is not found', "Nothing was run", "leave `cwd` out");
      expect(JSON.stringify(outcome)).not.toContain("coder::");
    }
  });

  test("a program is named by the path that was sent", async () => {
    expectPlain(await call("exec", { command: "./x" }), "command './x' not in allowlist");
    expectPlain(await call("exec", { command: "./ls" }), "command './ls' not in allowlist", 'send "ls"');
    expectPlain(await call("exec", { command: "/opt/rm" }), "command '/opt/rm'", "Instead of rm");
  });

  test("a chosen part of the output is sent once", async () => {
    const { job_id } = answerOf(await call("exec_bg", { command: "echo", args: ["line"], start_ms: 5000 }));
    const whole = answerOf(await call("status", { job_id }));
    expect(whole).toMatchObject({ job: { stdout: "line\n", stdout_truncated: false } });
    for (const chosen of [{ since: 1 }, { tail_lines: 1 }, { grep: "line" }, { max_output_bytes: 100 }]) {
      const { job, output } = answerOf(await call("status", { job_id, ...chosen }));
      expect(job).toMatchObject({
        status: "finished",
        stdout: "",
        stdout_truncated: true,
        stderr: "",
        stderr_truncated: false,
      });
      expect(JSON.stringify(output)).toContain("line");
    }
  });
});

test("a configured snapshot without a journal says only that nothing was held", async () => {
  const served = await startShell("executable", { ...agent, snapshot: ["src/", "made"] });
  writeFileSync(join(served.folder, "made"), "x");
  const command = { command: "sh", args: ["-c", "echo y > made"] };
  const { changed, not_held } = answerOf(await served.call("shell::exec", command));
  await served.stop();
  expect(changed).toBe("1 file (made)");
  expect(not_held).toEqual(["the journal is off, so nothing was held"]);
});
