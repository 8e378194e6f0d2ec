/** The outputs of commands over a channel while they run. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ChannelReader } from "iii-sdk/channel";
import { reasonAgainstInspection, testUnless } from "../faults/machine.ts";
import { defaultSubjects } from "../harness/subject.ts";
import { readPid, waitForExit } from "./alive.ts";
import { answerOf, expectCode, expectPlain, waitFor, waitForJob } from "./case.ts";
import { readChannel } from "./channels.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

const config = { allowlist: ["bash"], fs: { host_root: "<folder>" }, max_timeout_ms: 20_000 };
const output = "channel";

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  beforeAll(async () => {
    served = await startShell(subject, config);
  });
  afterAll(() => served.stop());

  const call = async (id: string, line: string, fields: object = {}) => {
    const payload = { command: "bash", args: ["-c", line], timeout_ms: 20_000, output, ...fields };
    return answerOf(await served.call(id, payload));
  };
  const newFolder = () => mkdtempSync(join(served.folder, "case-"));
  /** Returns a line of bash that waits for a file. */
  const until = (file: string) => `until [ -e ${file} ]; do sleep 0.01; done`;

  test.each(["shell::exec", "shell::exec_bg"])("%s answers while the command runs", async (id) => {
    const cwd = newFolder();
    const { content } = await call(id, `echo one; ${until("go")}; echo two >&2; exit 3`, { cwd });
    const reader = new ChannelReader(served.engine.url, content as never);
    const messages: string[] = [];
    reader.onMessage((text) => messages.push(text));
    const pieces: string[] = [];
    for await (const piece of reader.stream) {
      pieces.push(String(piece));
      if (pieces.length === 1) writeFileSync(join(cwd, "go"), "");
    }
    expect(pieces).toEqual(["one\n", "two\n"]);
    expect(messages.map((text) => JSON.parse(text))).toEqual([expect.objectContaining({ exit_code: 3 })]);
  });

  test("the answer of exec is that of a command that has written nothing yet", async () => {
    const { content, ...answer } = await call("shell::exec", "echo one");
    expect(answer).toMatchObject({ exit_code: null, stdout: "", stderr: "", timed_out: false });
    expect(content).toMatchObject({ direction: "read" });
    expect(String((await readChannel(served, content)).bytes)).toBe("one\n");
  });

  test.each(["shell::exec", "shell::exec_bg"])("%s sends everything, however much it is", async (id) => {
    const bytes = 12_000_000;
    const { content } = await call(id, `head -c ${bytes} /dev/zero; echo end`);
    const read = await readChannel(served, content);
    expect(read.bytes.length).toBe(bytes + 4);
    expect(read.bytes.subarray(-4).toString()).toBe("end\n");
    expect(JSON.parse(read.messages[0]!)).toMatchObject({ exit_code: 0 });
  });

  test("a command of exec ends when its reader leaves, and a job goes on", async () => {
    const processes: number[] = [];
    for (const id of ["shell::exec", "shell::exec_bg"]) {
      const cwd = newFolder();
      const { content } = await call(id, "echo $$ > id; echo one; exec sleep 900", { cwd });
      const reader = new ChannelReader(served.engine.url, content as never);
      for await (const _ of reader.stream) break;
      reader.close();
      processes.push(await readPid(join(cwd, "id")));
    }
    await waitForExit(processes[0]!);
    expect(() => process.kill(processes[1]!, 0)).not.toThrow();
    process.kill(processes[1]!, "SIGKILL");
  });

  test("the message says when the time was up", async () => {
    const { content } = await call("shell::exec", "echo one; exec sleep 900", { timeout_ms: 300 });
    const { messages } = await readChannel(served, content);
    expect(JSON.parse(messages[0]!)).toMatchObject({ exit_code: null, timed_out: true });
  });

  test("the record of a job has its output too", async () => {
    const { job_id, content } = await call("shell::exec_bg", "echo one");
    expect(String((await readChannel(served, content)).bytes)).toBe("one\n");
    expect(await waitForJob(served, job_id)).toMatchObject({ status: "finished", stdout: "one\n" });
  });

  test.each(["shell::exec", "shell::exec_bg"])("%s refuses what it cannot do", async (id) => {
    const target = { kind: "sandbox", sandbox_id: "00000000-0000-4000-8000-000000000000" };
    expectPlain(await served.call(id, { command: "bash", output: "pipe" }), "output");
    expectPlain(
      await served.call(id, { command: "bash", output, target }),
      "'output' is for commands on the host",
    );
    expectPlain(await served.call(id, { command: "nmap", output }), "not in allowlist");
  });
});

testUnless(reasonAgainstInspection, "a job that does not start leaves no channel open", async () => {
  const served = await startShell("source", { ...config, max_concurrent_jobs: 0 });
  const descriptors = `/proc/${served.worker.child.pid}/fd`;
  const countSockets = () =>
    readdirSync(descriptors).filter((name) => linkOf(join(descriptors, name)).startsWith("socket:")).length;
  const before = countSockets();
  for (let number = 0; number < 5; number++)
    expectPlain(await served.call("shell::exec_bg", { command: "bash", output }), "max concurrent jobs is 0");
  await waitFor(() => (countSockets() <= before ? true : undefined));
  await served.stop();
});

/** Returns the target of a descriptor, or an empty text if it was closed since it was listed. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

test("without channels the command does not run", async () => {
  const served = await startShell("source", config, { isWithoutChannels: true });
  for (const id of ["shell::exec", "shell::exec_bg"]) {
    const args = ["-c", "touch made"];
    const outcome = await served.call(id, { command: "bash", args, cwd: served.folder, output });
    expectCode(outcome, "S216");
  }
  expect(readdirSync(served.folder)).toEqual([]);
  await served.stop();
});
