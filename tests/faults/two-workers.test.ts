/**
 * Two workers on one base. They share no queue: each compares a file with what it has read before it gives it a new
 * content, so an edit is lost only in the moment between that look and the rename, which no stat can see.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCoder } from "../../src/coder/services.ts";
import { type Deadline, deadlineIn } from "../../src/scheduling/deadline.ts";
import { codesOf, type Driven, drive, type Outcome } from "./driven.ts";
import { configOf } from "./settings.ts";

let one: Driven;
let other: Driven;

beforeEach(async () => {
  one = await drive({ tree: { "f.txt": "old\n" } });
  other = await drive({ config: { base_path: one.base } });
});
afterEach(async () => {
  await other.stop();
  await one.stop();
});

const text = (name = "f.txt"): string => readFileSync(join(one.base, name), "utf8");

const insert = (worker: Driven, content: string, path = "f.txt"): Promise<Outcome> =>
  worker.call("coder::update-file", { files: [{ path, ops: [{ op: "insert", at_line: 1, content }] }] });

const overwrite = (worker: Driven, content: string): Promise<Outcome> =>
  worker.call("coder::create-file", { files: [{ path: "f.txt", content, overwrite: true }] });

const theirs: Readonly<Record<string, { act(): Promise<Outcome>; leaves: string }>> = {
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
    await runtime.files.update("f.txt", change, { deadline: deadlineIn(10_000) });
    await runtime.close();
    expect({ tries, text: text() }).toEqual({ tries: 2, text: `${leaves}ours\n` });
  },
);

/** The lines that were acknowledged, of `count` that are inserted one after the other. */
async function insertMany(worker: Driven, name: string, path?: string): Promise<string[]> {
  const done: string[] = [];
  for (let n = 0; n < 200; n++) {
    const outcome = await insert(worker, `${name} ${n}`, path);
    const [code] = codesOf(outcome);
    expect(["", "C216"]).toContain(code!);
    if (code === "") done.push(`${name} ${n}`);
  }
  return done;
}

test("both edit one file at once: it stays whole, and no edit is there twice", async () => {
  const done = (await Promise.all([insertMany(one, "one"), insertMany(other, "other")])).flat();
  const found = text().split("\n");
  expect(found.filter((line) => !/^((one|other) \d+|old|)$/.test(line))).toEqual([]);
  expect(new Set(found).size).toBe(found.length);
  expect(done.some((line) => found.includes(line))).toBe(true);
  expect(readdirSync(one.base)).toEqual(["f.txt"]);
});

test("each edits its own file in one folder: nothing is lost", async () => {
  writeFileSync(join(one.base, "g.txt"), "old\n");
  const done = await Promise.all([insertMany(one, "one"), insertMany(other, "other", "g.txt")]);
  expect(done.map((lines) => lines.length)).toEqual([200, 200]);
  expect([text(), text("g.txt")]).toEqual(done.map((lines) => [...lines.reverse(), "old", ""].join("\n")));
});

test("the sweeps of one leave the temporary files of the other, and take those of the dead", async () => {
  const runtime = await openCoder(await configOf({ base_path: one.base, fsync: false }), {
    environment: process.env,
  });
  const temporaries = () => readdirSync(one.base).filter((name) => name.startsWith(".coder-tmp-"));
  const dead = spawnSync("true").pid.toString(36);
  let live: string[] = [];
  // It is asked when the temporary file has its content and not yet its name.
  const deadline: Deadline = Object.assign(deadlineIn(20_000), {
    check() {
      if (live.length > 0 || temporaries().length === 0) return;
      live = temporaries();
      const left = live[0]!.replace(/^(\.coder-tmp-[0-9a-f]+)-[0-9a-z]+-/, `$1-${dead}-`);
      for (const question of [
        { does: "sweep" },
        { does: "call", function: "coder::list-folder", payload: {} },
      ]) {
        writeFileSync(join(one.base, left), "");
        askAlone(question);
        expect(temporaries()).toEqual(live);
      }
    },
  });
  await runtime.files.update("f.txt", () => Buffer.from("new\n"), { deadline });
  await runtime.close();
  expect(live.length).toBe(1);
  expect(text()).toBe("new\n");
  expect(temporaries()).toEqual([]);
});

/** Asks a third worker on the base, while this process does nothing. */
function askAlone(question: object): void {
  const driver = [join(import.meta.dirname, "driver.ts"), join(other.root, "config.yaml")];
  const input = `${JSON.stringify({ number: 1, question })}\n`;
  const { stdout, stderr } = spawnSync(process.execPath, driver, { input, encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^ready\n\{"number":1,"answer":/);
}
