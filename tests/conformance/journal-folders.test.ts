/** `coder checkpoints` and `coder undo` on the journals of servers over several folders. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCoder, startCoder, stateFolder } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { connectStdio } from "../mcp/client.ts";

let outer: string;
/** The folder that contains those of the servers. The journals are beside it. */
let here: string;

beforeEach(() => {
  outer = realpathSync(temporaryFolder());
  here = join(outer, "here");
  for (const name of ["alpha", "beta", "gamma", "it's/inner", "other"])
    mkdirSync(join(here, name), { recursive: true });
});

afterEach(() => rmSync(outer, { recursive: true }));

const run = (...args: string[]) =>
  runCoder("executable", args, { cwd: here, env: { XDG_STATE_HOME: join(outer, "state") } });

/** Creates a file by a worker that keeps a journal of these roots. */
async function record(path: string, roots: Readonly<Record<string, string>>): Promise<void> {
  const listed = Object.entries(roots).map(([name, folder]) => ({ name, path: join(here, folder) }));
  writeFileSync(join(here, "journal.yaml"), JSON.stringify({ journal: {}, roots: listed }));
  const payload = JSON.stringify({ files: [{ path, content: "a\n" }] });
  const { code } = await run("call", "create-file", payload, "--config", "journal.yaml");
  expect(code).toBe(0);
}

const both = { alpha: "alpha", beta: "beta" };

test("several folders are those of the server, in whatever order", async () => {
  await record("alpha/one.txt", both);
  await record("beta/two.txt", both);
  const listed = await run("checkpoints", "alpha", "beta");
  expect([listed.code, listed.stderr]).toEqual([0, ""]);
  const { checkpoints } = JSON.parse(listed.stdout);
  expect(checkpoints).toMatchObject([
    { seq: 2, files: [{ path: "beta/two.txt", change: "created" }] },
    { seq: 1, files: [{ path: "alpha/one.txt", change: "created" }] },
  ]);
  const narrowed = await run("checkpoints", "beta", "alpha", '{"path":"alpha"}');
  expect(JSON.parse(narrowed.stdout).checkpoints).toMatchObject([{ seq: 1 }]);
  expect(JSON.parse((await run("undo", "beta", "alpha", "1")).stdout).undone).toMatchObject([
    { seq: 1, removed: ["alpha/one.txt"] },
  ]);
  expect(existsSync(join(here, "alpha/one.txt"))).toBe(false);
  expect(JSON.parse((await run("undo", "alpha", "beta")).stdout).undone).toMatchObject([
    { seq: 3, restored: ["alpha/one.txt"] },
  ]);
});

const commandForBoth = () => `coder checkpoints ${join(here, "alpha")} ${join(here, "beta")}`;

test.each([
  ["one of them", ["checkpoints", "--base-path", "alpha"]],
  ["the other one, to undo", ["undo", "--base-path", "beta"]],
  ["one more", ["checkpoints", "alpha", "beta", "gamma"]],
  ["the folder that contains them", ["checkpoints", "--base-path", "."]],
])("a call on %s is told the command line that lists their changes", async (_, args) => {
  await record("alpha/a.txt", both);
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(`list them with ${commandForBoth()}\n`);
  expect(stderr).toContain("This folder has no journal of its own");
  expect(stderr).not.toContain("nothing is recorded");
  const [, shown = ""] = /list them with coder (.*)\n/.exec(stderr)!;
  expect((await run(...shown.split(" "))).code).toBe(0);
});

test("an empty journal is listed with a hint at those of other users", async () => {
  writeFileSync(join(here, "empty.yaml"), JSON.stringify({ base_path: join(here, "gamma"), journal: {} }));
  const { code, stdout, stderr } = await run("checkpoints", "--config", "empty.yaml");
  expect([code, JSON.parse(stdout).checkpoints]).toEqual([0, []]);
  expect(stderr).toContain("coder: this journal is empty; a server that runs as another user");
});

test("a folder that shares nothing with a journal has none", async () => {
  await record("alpha/a.txt", both);
  const { code, stderr } = await run("checkpoints", "--base-path", "gamma");
  expect([code, JSON.parse(stderr).message]).toEqual([
    1,
    expect.stringContaining(
      "The state folder of this user holds no journal of this folder, so nothing is recorded here",
    ),
  ]);
});

describe("the command line that lists another journal", () => {
  test("names the only folder of a server, as a word of a shell", async () => {
    await record("a.txt", { ".": "it's" });
    const { stderr } = await run("checkpoints", "--base-path", "it's/inner");
    expect(stderr).toContain(`coder checkpoints --base-path '${join(here, "it'\\''s")}'\n`);
  });

  test("says which names the roots of a configuration have, if folders alone do not give them", async () => {
    await record("x/a.txt", { x: "gamma", y: "other" });
    const { stderr } = await run("checkpoints", "--base-path", "gamma");
    expect(stderr).toContain('--config FILE, whose roots have the names "x", "y", in this order\n');
  });

  test("is given beside the checkpoints that a worker has recorded since with one more folder", async () => {
    await record("alpha/a.txt", both);
    await record("gamma/b.txt", { ...both, gamma: "gamma" });
    const { code, stdout, stderr } = await run("checkpoints", "alpha", "beta", "gamma");
    expect([code, JSON.parse(stdout).checkpoints.length]).toEqual([0, 1]);
    expect(stderr).toContain(`list them with ${commandForBoth()}\n`);
  });
});

test("the page of other folders says in its log whose changes it does not show", async () => {
  await record("alpha/a.txt", both);
  const review = startCoder("executable", ["review", "--base-path", "alpha"], {
    cwd: here,
    env: { XDG_STATE_HOME: join(outer, "state") },
  });
  const folders = `${join(here, "alpha")} ${join(here, "beta")}`;
  await review.waitForStderr(/"message":"not shown"/);
  review.child.kill("SIGTERM");
  await review.exited;
  expect(review.stderr()).toContain(`has recorded changes","folders":"${folders}"`);
});

test("an agent is told that a server over other folders has recorded changes, without their paths", async () => {
  await using before = await connectStdio("executable", { tree: { "in/a.txt": "a\n" } });
  await before.call("coder_create_file", { path: "in/b.txt", content: "" });
  await using after = await connectStdio("executable", {
    config: { base_path: undefined },
    configure: () => ({ base_path: join(before.base, "in") }),
  });
  const { content } = await after.call("coder_checkpoints", {});
  expect(content).toEqual([
    {
      type: "text",
      text: "Nothing is recorded here. A server over other folders, which overlap with these, has recorded changes: ask the user to run `coder checkpoints` with the folders of that server.",
    },
  ]);
});

test("checkpoints name the sessions that made them, which a person cannot tell apart otherwise", async () => {
  await using first = await connectStdio("executable");
  const second = await first.connectOther("other");
  await first.call("coder_create_file", { path: "a.txt", content: "" });
  await second.call("coder_create_file", { path: "b.txt", content: "" });
  const { stdout } = await runCoder("executable", ["checkpoints", "--base-path", first.base], {
    env: { XDG_STATE_HOME: stateFolder() },
  });
  const authors = JSON.parse(stdout).checkpoints.map(({ author }: { author: object }) => author);
  expect(authors).toMatchObject([{ client: "other 1.0.0" }, { client: "tests 1.0.0" }]);
  expect(new Set(authors.map(({ session }: { session: string }) => session)).size).toBe(2);
});
