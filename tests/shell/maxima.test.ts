/** Answers that depend on the maximum of a field name it (shell §15). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf } from "./case.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

const lines = "0123456\n".repeat(1000);

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  beforeAll(async () => {
    served = await startShell(subject, {
      allowlist: ["cat", "tail"],
      default_timeout_ms: 200,
      max_timeout_ms: 200,
      max_output_bytes: 4096,
      fs: { host_root: "<folder>" },
      os_sandbox: "off",
      profile: "agent",
    });
    writeFileSync(join(served.folder, "long"), lines);
  });
  afterAll(() => served.stop());

  const call = async (id: string, payload: object) => answerOf(await served.call(`shell::${id}`, payload));

  test("max_output_bytes, where output is cut", async () => {
    const command = { command: "cat", args: ["long"] };
    expect(await call("exec", { ...command, max_output_bytes: 4097 })).toMatchObject({
      maxima: { max_output_bytes: 4096 },
    });
    for (const max_output_bytes of [4096, 100])
      expect(await call("exec", { ...command, max_output_bytes })).not.toHaveProperty("maxima");
    const { job_id } = await call("exec", command);
    const page = { job_id, since: 1, max_output_bytes: 5000 };
    expect(await call("status", page)).toMatchObject({
      maxima: { max_output_bytes: 4096 },
      output: { from: 1, next: 513 },
    });
    expect(await call("status", { job_id, max_output_bytes: 5000 })).toMatchObject({
      maxima: { max_output_bytes: 4096 },
    });
    const tail = { job_id, tail_lines: 2, max_output_bytes: 5000 };
    expect(await call("status", tail)).not.toHaveProperty("maxima");
    const { end } = (await call("status", page))["output"] as { end: number };
    expect(await call("status", { ...page, since: end - 10 })).not.toHaveProperty("maxima");
    expect(await call("exec", { command: "cat", args: ["none"], max_output_bytes: 9999 })).not.toHaveProperty(
      "maxima",
    );
  });

  test("start_ms and wait_ms, where the job still runs", async () => {
    const job_id = "runs";
    const command = { command: "tail", args: ["-f", "/dev/null"] };
    expect(await call("exec_bg", { ...command, job_id, start_ms: 201 })).toMatchObject({
      maxima: { start_ms: 200 },
    });
    expect(await call("status", { job_id, wait_ms: 201 })).toMatchObject({ maxima: { wait_ms: 200 } });
    expect(await call("status", { job_id, wait_ms: 200 })).not.toHaveProperty("maxima");
    await call("kill", { job_id });
    expect(await call("status", { job_id, wait_ms: 201 })).not.toHaveProperty("maxima");
  });
});
