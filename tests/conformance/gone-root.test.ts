/** A root whose folder is moved away while the server runs, as a model sees it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { connectStdio, type McpFixture, textOf } from "../mcp/client.ts";

let connected: McpFixture;

beforeAll(async () => {
  connected = await connectStdio("executable", {
    args: ["--commands", "--allow", "sh"],
    tree: { "app/a.txt": "app\n", "lib/b.txt": "lib\n", "lib/old.txt": "" },
    configure: (base) => ({
      base_path: undefined,
      roots: ["app", "lib"].map((name) => ({ name, path: join(base, name) })),
    }),
  });
  await connected.call("coder_delete_file", { paths: ["lib/old.txt"] });
  renameSync(join(connected.base, "lib"), join(connected.base, "away"));
});

afterAll(() => connected[Symbol.asyncDispose]());

const answer = async (tool: string, args: Record<string, unknown> = {}) =>
  textOf(await connected.call(tool, args));

test("a search and a replacement say that it was not searched", async () => {
  const left = "[not searched: lib gone (the folder of a root is not there)]";
  expect(await answer("coder_search", { query: "library" })).toBe(`[nothing found in 1 file]\n${left}`);
  expect(await answer("coder_search", { query: "app" })).toBe(`app/a.txt\n1→app\n${left}`);
  const sent = { query: "app", replacement: "application", dry_run: true };
  expect(await answer("coder_replace", sent)).toContain(`\n${left}\n`);
});

test("a tree and a listing mark it, without a word about the operating system", async () => {
  const legend = "the folder of that root was removed or moved away; ask the user to restore it]";
  expect(await answer("coder_tree")).toBe(`./\n  app/\n    a.txt\n  lib/ [gone]\n[gone: ${legend}`);
  expect(await answer("coder_list_folder")).toBe(`app/\nlib/ [gone]\n[gone: ${legend}`);
});

test("changes in the other root are those of the command that made them", async () => {
  const [, since] = /\[since (\S+) for what/.exec(await answer("coder_changes"))!;
  const run = { command: "sh", args: ["-c", "echo 1 > new.txt"] };
  expect(await answer("shell_exec", run)).toStartWith(
    "[changed while it ran: 1 file (app/new.txt)]\n[exit code 0",
  );
  expect(await answer("coder_changes", { since })).toStartWith(
    "created: app/new.txt (while shell_exec sh ran)\n[changes of other programs are not reported in lib/]\n",
  );
  rmSync(join(connected.base, "app/new.txt"));
});

test("an undo there fails with the reason, and so does one by force that could only skip", async () => {
  const refused = await connected.call("coder_undo", {});
  expect([refused.isError, textOf(refused)]).toEqual([
    true,
    'C216 io: Checkpoint 1 changed "lib/old.txt", and the folder of the root "lib" is not there. Nothing was undone. Ask the user to restore it, send `paths` without it, or `force`, which leaves it out.',
  ]);
  const forced = await connected.call("coder_undo", { seq: 1, force: true });
  expect([forced.isError, textOf(forced)]).toEqual([
    true,
    "#1\n  skipped: lib/old.txt (root-gone)\nNothing was undone. To undo another checkpoint, send its seq; coder_checkpoints lists them.",
  ]);
});

test("info names it, until its folder is back", async () => {
  expect(await answer("coder_info")).toContain(
    "\nroots: app lib (gone: its folder was removed or moved away)\n",
  );
  renameSync(join(connected.base, "away"), join(connected.base, "lib"));
  expect(await answer("coder_info")).toContain("\nroots: app lib\n");
  expect(await answer("coder_search", { query: "lib" })).toBe("lib/b.txt\n1→lib");
});
