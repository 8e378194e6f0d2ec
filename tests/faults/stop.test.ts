/** Programs that are stopped in order, or by a person, in the middle of a change of many files. */
import { afterEach, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf, defaultSubjects, runCoder, startCoder, stateFolder } from "../harness/subject.ts";
import { withWorker } from "../harness/with-worker.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

/** The number of files whose change takes longer than a client that leaves lets a call finish. */
const count = 1500;

const replacement = { query: "old", replacement: "new" };

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function makeFiles(base: string): void {
  mkdirSync(base, { recursive: true });
  for (let index = 0; index < count; index++)
    writeFileSync(join(base, `f${index}.txt`), "old\n".repeat(2000));
}

/** Returns a folder with the files. */
function folderOfFiles(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  makeFiles(folder);
  return folder;
}

/** Returns the different beginnings of the files, and the names of other entries. */
function stateOf(base: string) {
  const names = readdirSync(base);
  const isOurs = (name: string) => /^f\d+\.txt$/.test(name);
  const texts = names.filter(isOurs).map((name) => readFileSync(join(base, name), "latin1").slice(0, 3));
  return {
    files: texts.length,
    texts: [...new Set(texts)],
    others: names.filter((name) => !isOurs(name)),
  };
}

const before = { files: count, texts: ["old"], others: [] };
const after = { files: count, texts: ["new"], others: [] };

/** Resolves when the name of an entry in the folder matches that has changed. Call it before the change. */
function changeOf(folder: string, name: RegExp): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_, changed) => {
      if (changed === null || !name.test(changed)) return;
      watcher.close();
      resolve();
    });
  });
}

const temporary = /^\.coder-tmp-/;
const ours = /^f\d+\.txt$/;

describe.each(defaultSubjects)("%s", (subject) => {
  /** Leaves a server over MCP once a call has begun to change the folder. Returns the log. */
  async function leaveDuring(name: string, sent: object, base: string): Promise<string> {
    const [command, ...first] = commandOf(subject);
    const env = { ...process.env, XDG_STATE_HOME: stateFolder() };
    const child = spawn(command, [...first, "mcp", "--base-path", base], { stdio: "pipe", env });
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    child.stdout.resume();
    const send = (message: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const changed = changeOf(base, temporary);
    const clientInfo = { name: "tests", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    send({ id: 0, method: "initialize", params });
    send({ method: "notifications/initialized" });
    send({ id: 1, method: "tools/call", params: { name, arguments: sent } });
    await changed;
    child.stdin.end();
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    expect(log).not.toMatch(/"level":"(?:error|warn)"/);
    return log;
  }

  test("over MCP, whose client leaves: all of it or nothing", async () => {
    const base = folderOfFiles();
    const log = await leaveDuring("coder_replace", replacement, base);
    expect(stateOf(base)).toEqual(log.includes('"outcome":"ok"') ? after : before);
  });

  test("over MCP, whose client leaves a copy: the whole folder or nothing", async () => {
    const base = temporaryFolder();
    folders.push(base);
    makeFiles(join(base, "from"));
    await leaveDuring("coder_copy", { files: [{ from: "from", to: "to" }] }, base);
    const names = readdirSync(base).sort();
    expect([["from"], ["from", "to"]]).toContainEqual(names);
    for (const name of names) expect(stateOf(join(base, name))).toEqual(before);
  });

  test("on the bus, by SIGTERM: all of it or nothing, and the caller learns which", async () => {
    await withWorker(
      subject,
      async ({ base, call, worker }) => {
        makeFiles(base);
        const changed = changeOf(base, temporary);
        const outcome = call("coder::replace", replacement);
        await changed;
        worker.child.kill("SIGTERM");
        const { answer, error } = await outcome;
        expect(await worker.exited).toBe(0);
        expect(worker.stderr()).not.toMatch(/"level":"(?:error|warn)"/);
        expect(stateOf(base)).toEqual(answer === undefined ? before : after);
        if (error !== undefined) expect(error.message).toContain("Nothing was changed");
      },
      { config: { profile: "agent" } },
    );
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("at the command line, by %s: nothing, and one line says so", async (signal, status) => {
    const base = folderOfFiles();
    const changed = changeOf(base, ours);
    const running = startCoder(subject, [
      "call",
      "replace",
      JSON.stringify(replacement),
      "--base-path",
      base,
    ]);
    await changed;
    running.child.kill(signal);
    running.child.kill(signal);
    expect(await running.exited).toBe(status);
    expect(running.stderr()).toMatch(new RegExp(`^coder: ${signal}: .*Nothing was changed.*\\n$`));
    expect(running.stdout()).toBe("");
    expect(stateOf(base)).toEqual(before);
  });

  test("at the command line, by SIGKILL: the next command says that it takes it back", async () => {
    const base = folderOfFiles();
    const env = { XDG_STATE_HOME: join(base, "../state-of-kill") };
    const file = `${temporaryFolder()}/config.yaml`;
    writeFileSync(file, JSON.stringify({ base_path: base, journal: {} }));
    const run = (...args: string[]) => runCoder(subject, [...args, "--config", file], { env });
    const changed = changeOf(base, ours);
    const call = ["call", "replace", JSON.stringify(replacement), "--config", file];
    const killed = startCoder(subject, call, { env });
    await changed;
    killed.child.kill("SIGKILL");
    await killed.exited;
    const read = await run("call", "read-file", '{"path":"f0.txt"}', "--read-only");
    expect(read.stderr).toContain("coder: a killed process left a transaction");
    const { stderr } = await run("checkpoints");
    expect(stderr).toBe("coder: a transaction was stopped half done, and is taken back\n");
    expect(stateOf(base)).toEqual(before);
    expect((await run("checkpoints")).stderr).toBe("");
  });
});
