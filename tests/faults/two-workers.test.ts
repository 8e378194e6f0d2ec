/**
 * Two workers on one base. They share no queue: each exchanges its new content for the file that it has read,
 * and reverses the exchange if it gets a different file.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Deadline, deadlineIn } from "../../src/base/scheduling/deadline.ts";
import { openCoder } from "../../src/coder/services.ts";
import { bundled } from "../harness/subject.ts";
import type { DriverRequest } from "./driver.ts";
import { codesOf, type DriverFixture, type DriverOutcome, startDriver } from "./driver-fixture.ts";
import { edit } from "./edit.ts";
import { configOf } from "./settings.ts";

let one: DriverFixture;
let other: DriverFixture;

beforeEach(async () => {
  one = await startDriver({ tree: { "f.txt": "old\n" } });
  other = await startDriver({ config: { base_path: one.base } });
});
afterEach(async () => {
  await other.stop();
  await one.stop();
});

const text = (name = "f.txt"): string => readFileSync(join(one.base, name), "utf8");

const insert = (worker: DriverFixture, content: string, path = "f.txt"): Promise<DriverOutcome> =>
  worker.call("coder::update-file", { files: [{ path, ops: [{ op: "insert", at_line: 1, content }] }] });

const overwrite = (worker: DriverFixture, content: string): Promise<DriverOutcome> =>
  worker.call("coder::create-file", { files: [{ path: "f.txt", content, overwrite: true }] });

const theirs: Readonly<Record<string, { act(): Promise<DriverOutcome>; leaves: string }>> = {
  "edits a file": { act: () => insert(other, "theirs"), leaves: "theirs\nold\n" },
  "overwrites a file": { act: () => overwrite(other, "new\n"), leaves: "new\n" },
  "overwrites a file with as many bytes": { act: () => overwrite(other, "OLD\n"), leaves: "OLD\n" },
};

test.each(Object.entries(theirs))(
  "one %s that the other is about to edit: the edit is made on that",
  async (_, { act, leaves }) => {
    const runtime = await openCoder(await configOf({ base_path: one.base, fsync: false }), {
      environment: process.env,
    });
    let tries = 0;
    const change = async (before: Buffer) => {
      if (++tries === 1) expect(codesOf(await act())).toEqual([""]);
      return Buffer.concat([before, Buffer.from("ours\n")]);
    };
    await edit(runtime, "f.txt", change, { deadline: deadlineIn(10_000) });
    await runtime.close();
    expect({ tries, text: text() }).toEqual({ tries: 2, text: `${leaves}ours\n` });
  },
);

/** Inserts 100 lines one after the other. Returns those that were acknowledged. */
async function insertMany(worker: DriverFixture, name: string, path?: string): Promise<string[]> {
  const done: string[] = [];
  for (let n = 0; n < 100; n++) {
    const outcome = await insert(worker, `${name} ${n}`, path);
    const [code] = codesOf(outcome);
    expect(["", "C216"]).toContain(code!);
    if (code === "") done.push(`${name} ${n}`);
  }
  return done;
}

test("both edit one file at once: it stays whole, and no edit is lost or there twice", async () => {
  const done = (await Promise.all([insertMany(one, "one"), insertMany(other, "other")])).flat();
  const found = text().split("\n");
  expect(found.toSorted()).toEqual([...done, "old", ""].toSorted());
  expect(readdirSync(one.base)).toEqual(["f.txt"]);
});

test("both edit one file while another program replaces it: no edit overwrites what it has not seen", async () => {
  const writer = await startWriter();
  const insertAll = async () =>
    (await Promise.all([insertMany(one, "one"), insertMany(other, "other")])).flat();
  const done = [...(await insertAll()), ...(await insertAll())];
  expect(done.length).toBeGreaterThan(0);
  expect(await writer.stop()).toMatch(aboveZero);
  expect(readdirSync(one.base)).toEqual(["f.txt"]);
});

const aboveZero = /^[1-9]\d*$/;

/**
 * Starts a program that replaces the file with a line of its own, waits until that line was edited, and
 * starts over. It gives up after 10 s without such an edit. Resolves after the first replacement. `stop`
 * resolves with the output of the program: the number of its lines that were edited, or what it found
 * instead.
 */
async function startWriter(): Promise<{ stop(): Promise<string> }> {
  const program = `
    const { readFileSync, renameSync, writeFileSync, writeSync } = require("node:fs");
    const [file, own] = process.argv.slice(-2);
    let isStopped = false;
    process.stdin.on("data", () => (isStopped = true));
    const print = (text) => {
      writeSync(1, text);
      process.exit();
    };
    (function write(written) {
      const line = \`writer \${written}\\n\`;
      writeFileSync(own, line);
      renameSync(own, file);
      if (written === 0) writeSync(1, "started\\n");
      const end = Date.now() + 10_000;
      (function look() {
        const text = readFileSync(file, "utf8");
        if (text.endsWith("\\n" + line)) write(written + 1);
        else if (isStopped) print(String(written));
        else if (Date.now() > end) print(JSON.stringify({ line, text }));
        else setImmediate(look);
      })();
    })(0);`;
  const [file, own] = [join(one.base, "f.txt"), join(one.root, "own.txt")];
  const child = spawn(process.execPath, ["-e", program, file, own], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect(await lines.next()).toEqual({ done: false, value: "started" });
  return {
    async stop() {
      child.stdin.write("stop");
      return String((await lines.next()).value);
    },
  };
}

interface Revised {
  readonly revision: string;
}

/** Returns a call that makes the edit of an entry for `coder::update-file`. */
type EditCall = (entry: object) => readonly [functionId: string, payload: object];

const asEntry: EditCall = (entry) => ["coder::update-file", { files: [entry], answer: "none" }];
const asChange: EditCall = (entry) => [
  "coder::transact",
  { changes: [{ op: "update", ...entry }], answer: "none" },
];

interface Editing {
  readonly name: string;
  readonly times: number;
  readonly edit: EditCall;
}

/** Reads the file and edits what it has read, over and over. Returns the revisions that were edited. */
async function editRead(worker: DriverFixture, { name, times, edit }: Editing): Promise<string[]> {
  const done: string[] = [];
  for (let n = 0; n < times; n++) {
    const read = await worker.call("coder::read-file", { path: "f.txt", revision: true });
    // Without handles, a file that is replaced while it is opened is refused.
    if (read.error !== undefined) {
      expect(codesOf(read)).toEqual(["C216"]);
      continue;
    }
    const { revision } = read.answer as Revised;
    const ops = [{ op: "insert", at_line: 1, content: `${name} ${n}` }];
    const entry = { path: "f.txt", ops, expected_revision: revision };
    const [code] = codesOf(await worker.call(...edit(entry)));
    expect(["", "C216", "C221"]).toContain(code!);
    if (code === "") done.push(revision);
  }
  return done;
}

test.each([
  ["1,000 edits of two workers", 500, asEntry],
  ["200 edits of one worker and as many transactions of another", 200, asChange],
] as const)("%s beside another program: each is made on what its caller has read", async (_, times, edit) => {
  const writer = await startWriter();
  const edits = editRead(one, { name: "one", times, edit: asEntry });
  const done = (await Promise.all([edits, editRead(other, { name: "other", times, edit })])).flat();
  expect(await writer.stop()).toMatch(aboveZero);
  expect(done.length).toBeGreaterThan(0);
  // All contents differ. A second edit of one of them would have overwritten the first.
  expect(new Set(done).size).toBe(done.length);
  expect(readdirSync(one.base)).toEqual(["f.txt"]);
});

test("each edits its own file in one folder: nothing is lost", async () => {
  writeFileSync(join(one.base, "g.txt"), "old\n");
  const done = await Promise.all([insertMany(one, "one"), insertMany(other, "other", "g.txt")]);
  expect(done.map((lines) => lines.length)).toEqual([100, 100]);
  expect([text(), text("g.txt")]).toEqual(done.map((lines) => [...lines.reverse(), "old", ""].join("\n")));
});

test("the sweeps of one leave the temporary files of the other, and take those of the dead", async () => {
  const runtime = await openCoder(await configOf({ base_path: one.base, fsync: false }), {
    environment: process.env,
  });
  const temporaries = () => readdirSync(one.base).filter((name) => name.startsWith(".coder-tmp-"));
  const dead = spawnSync("true").pid.toString(36);
  let live: string[] = [];
  // The check comes when the temporary file has its content but not yet its name.
  const deadline: Deadline = Object.assign(deadlineIn(20_000), {
    check() {
      if (live.length > 0 || temporaries().length === 0) return;
      live = temporaries();
      const left = live[0]!.replace(/^(\.coder-tmp-[0-9a-f]+)-[0-9a-z]+-/, `$1-${dead}-`);
      for (const request of [
        { method: "sweep" },
        { method: "call", function: "coder::list-folder", payload: {} },
      ] as const) {
        writeFileSync(join(one.base, left), "");
        requestAlone(request);
        expect(temporaries()).toEqual(live);
      }
    },
  });
  await edit(runtime, "f.txt", () => Buffer.from("new\n"), { deadline });
  await runtime.close();
  expect(live.length).toBe(1);
  expect(text()).toBe("new\n");
  expect(temporaries()).toEqual([]);
});

/** Sends a request to a third worker on the base while this process is blocked. */
function requestAlone(request: DriverRequest): void {
  const driver = [bundled("tests/faults/driver.ts"), join(other.root, "config.yaml")];
  const input = `${JSON.stringify({ id: 1, request })}\n`;
  const { stdout, stderr } = spawnSync(process.execPath, driver, { input, encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^ready\n\{"id":1,"answer":/);
}
