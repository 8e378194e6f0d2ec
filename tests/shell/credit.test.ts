/** A worker of files and one of commands, two processes on one engine: who made which change. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { IIIClient } from "iii-sdk";
import { type CoderProcess, defaultSubjects, startCoder } from "../harness/subject.ts";
import { callThrough, connectClient, startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";
import { answerOf } from "./case.ts";

interface Ran {
  readonly author?: { readonly worker: string };
  readonly function_id?: string;
  readonly program?: string;
}
interface Changed {
  readonly path: string;
  readonly cause: Ran & { readonly by: string; readonly mine?: true; readonly commands?: readonly Ran[] };
}

describe.each(defaultSubjects)("the %s", (subject) => {
  let served: WorkerFixture;
  let shell: CoderProcess;
  let ann: IIIClient;
  let ben: IIIClient;

  beforeAll(async () => {
    served = await startWorker(subject, { profile: "agent" });
    served.build({ "f.txt": "one\n" });
    const settings = dirname(served.configFile);
    const file = join(settings, "shell.yaml");
    const keys = { profile: "agent", allowlist: ["sh", "sleep"], working_dir: served.base, journal: {} };
    writeFileSync(file, JSON.stringify({ ...keys, fs: { host_root: served.base } }));
    const args = ["--worker", "shell", "--config", file, "--url", served.engine.url];
    shell = startCoder(subject, args, { env: { XDG_STATE_HOME: join(settings, "state") } });
    await served.engine.waitForFunction("shell::list");
    [ann, ben] = [connectClient(served.engine.url), connectClient(served.engine.url)];
  });
  afterAll(async () => {
    shell.child.kill("SIGTERM");
    await shell.exited;
    for (const client of [ann, ben]) await client.shutdown();
    await served.stop();
  });

  const call = async (client: IIIClient, id: string, payload: object = {}) =>
    answerOf(await callThrough(client, id, payload));
  const sh = (client: IIIClient, line: string) =>
    call(client, "shell::exec", { command: "sh", args: ["-c", line] });
  const position = async () => (await call(ann, "coder::changes"))["next"];
  /** Returns the changes as Ann reads them: the path, whether it is hers, and what ran. */
  const read = async (since: unknown) => {
    const { changes } = (await call(ann, "coder::changes", { since })) as { changes: readonly Changed[] };
    return changes.map(({ path, cause }) => {
      const ran = cause.commands ?? (cause.by === "call" ? [cause] : []);
      const names = ran.map(({ function_id: id, program }) => [id, ...(program ? [program] : [])].join(" "));
      return [path, cause.mine ?? false, names.toSorted().join(", ")];
    });
  };
  const list = async (by: string, since: unknown) => {
    const { net } = (await call(ann, "coder::changes", { since, by })) as { net: readonly Changed[] };
    return net.map(({ path }) => path);
  };

  test("commands one after the other have their own changes, and a job none of those before it", async () => {
    const since = await position();
    await sh(ann, "echo z > a1");
    await sh(ben, "echo z > b1");
    await sh(ann, "echo z > a2");
    const { job_id } = await call(ann, "shell::exec_bg", { command: "sleep", args: ["60"] });
    await call(ann, "shell::kill", { job_id });
    expect(await read(since)).toEqual([
      ["a1", true, "shell::exec sh"],
      ["b1", false, "shell::exec sh"],
      ["a2", true, "shell::exec sh"],
    ]);
    expect([await list("me", since), await list("others", since)]).toEqual([["a1", "a2"], ["b1"]]);
  });

  test("both commands that ran at the same time are named, and neither author is the one", async () => {
    const since = await position();
    const line = (own: string, other: string) =>
      `: > ${own}; until [ -e ${other} ]; do sleep 0.01; done; echo > ${own}2; until [ -e ${other}2 ]; do sleep 0.01; done`;
    await Promise.all([sh(ann, line("p", "q")), sh(ben, line("q", "p"))]);
    const both = (await read(since)).filter(([path]) => path === "p2" || path === "q2").toSorted();
    expect(both).toEqual([
      ["p2", false, "shell::exec sh, shell::exec sh"],
      ["q2", false, "shell::exec sh, shell::exec sh"],
    ]);
    for (const by of ["me", "others"])
      expect(await list(by, since)).toEqual(expect.arrayContaining(["p2", "q2"]));
  });

  test("what changes while only a job runs may be the work of others, and is listed as theirs too", async () => {
    const since = await position();
    const { job_id } = await call(ann, "shell::exec_bg", { command: "sleep", args: ["60"] });
    writeFileSync(join(served.base, "by-hand"), "x");
    expect(await read(since)).toEqual([["by-hand", false, "shell::exec_bg sleep"]]);
    expect([await list("me", since), await list("others", since)]).toEqual([["by-hand"], ["by-hand"]]);
    await call(ann, "shell::kill", { job_id });
  });

  test("an undo names the programs that ran while files changed after its checkpoint, and no others", async () => {
    await position();
    const { job_id } = await call(ann, "shell::exec_bg", { command: "sleep", args: ["60"] });
    await sh(ann, "echo z > before");
    await call(ann, "coder::create-file", { files: [{ path: "c", content: "c\n" }] });
    await call(ann, "shell::fs::sed", { files: ["c"], pattern: "c", replacement: "d" });
    expect(await call(ann, "coder::undo")).not.toHaveProperty("commands");
    await call(ann, "shell::kill", { job_id });
    await call(ann, "shell::fs::sed", { files: ["c"], pattern: "c", replacement: "e" });
    await sh(ann, "echo z > after");
    expect(await call(ann, "coder::undo")).toMatchObject({ commands: ["sh"] });
    expect(existsSync(join(served.base, "after"))).toBe(true);
  });

  test("an undo of a command's checkpoint names later commands, and not that one", async () => {
    await position();
    const held = { command: "sh", args: ["-c", "echo two > f.txt"], snapshot: ["f.txt"] };
    expect(await call(ann, "shell::exec", held)).toHaveProperty("checkpoint");
    await call(ann, "shell::exec", { command: "sleep", args: ["0"] });
    expect(await call(ann, "coder::undo")).not.toHaveProperty("commands");
    expect(await call(ann, "shell::exec", held)).toHaveProperty("checkpoint");
    await sh(ann, "echo z > later");
    expect(await call(ann, "coder::undo")).toMatchObject({ commands: ["sh"] });
  });
});
