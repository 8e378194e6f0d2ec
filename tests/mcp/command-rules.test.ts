/** The notes on commands for models: the rules in advance, violated rules, the changes of a command. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildTree } from "../harness/tree.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

const tree = { "a.txt": "one\n", ".env": "SECRET=1\n", "sub/b.txt": "two\n", "big.bin": "x".repeat(2 ** 21) };

let connected: McpFixture;
beforeAll(async () => {
  connected = await connectStdio("executable", {
    args: ["--commands", "--allow", "sh,git"],
    config: { commands: { os_sandbox: "required" } },
  });
});
afterAll(() => connected[Symbol.asyncDispose]());
beforeEach(() => buildTree(connected.root, tree));

const sh = async (line: string) =>
  textOf(await connected.call("shell_exec", { command: "sh", args: ["-c", line] }));

test("the instructions have the rules of commands, in at most eight lines after the others", () => {
  const lines = connected.client.getInstructions()!.split("\n");
  const first = lines.findIndex((line) => line.startsWith("Programs that may run: ls, cat"));
  expect(lines.length - first).toBeLessThanOrEqual(8);
  const rules = lines.slice(first).join("\n");
  for (const text of ["sh, git", "$TMPDIR", "**/.env", "10 s", "30 s", "64 KiB", "shell_exec_bg"])
    expect(rules).toContain(text);
  expect(rules).toMatch(/127\.0\.0\.1 and ::1 only|no network/);
});

test("command lines of the published denylist run under the sandbox, but for one that removes everything", async () => {
  expect(await sh(": find . -exec x; : sed -i; echo done")).toStartWith("done\n");
  expect(await sh("rm -rf /")).toMatch(/^command matches denylist: .*; the user does not permit/);
});

test("a refusal that the sandbox caused is named after the output", async () => {
  const text = await sh("echo x > /etc/made-by-a-command");
  expect(text).toContain("\n[sandbox: commands write below the served folder and $TMPDIR only]\n[exit code ");
  expect(await sh("cat .env || true")).toContain(
    "[sandbox: .env is hidden: commands do not find its content there]",
  );
  expect(await sh("cat /etc/shadow")).toContain(
    "[sandbox: /etc/shadow is hidden: commands do not find its content there]",
  );
  expect(await sh("grep -r SECRET . || true")).toContain("[sandbox: .env is hidden");
  expect(await sh("echo fine")).not.toContain("[sandbox");
});

test("a command that was cut off is a failed call, and one whose program answers with an exit code is not", async () => {
  const flagOf = async (line: string, fields = {}) =>
    (await connected.call("shell_exec", { command: "sh", args: ["-c", line], ...fields })).isError ?? false;
  expect(await flagOf("exit 1")).toBe(false);
  expect(await flagOf("kill -SEGV $$")).toBe(true);
  expect(await flagOf("sleep 60", { timeout_ms: 50 })).toBe(true);
});

test("processes that a command left running are said to have ended with it", async () => {
  const note =
    "[ended with the command: processes that it left running; shell_exec_bg is for those that stay]";
  expect(await sh("sleep 1000 > /dev/null 2>&1 & echo started")).toStartWith(
    `started\n${note}\n[exit code 0`,
  );
  expect(await sh("sleep 0.01 & wait")).not.toContain("left running");
});

test("words that only a shell acts on are named", async () => {
  const run = async (command: string) => textOf(await connected.call("shell_exec", { command }));
  expect(await run("echo hi > out.txt")).toContain(
    '\n[no shell runs here: echo got ">" as it is; sh with args ["-c", LINE] runs a line of a shell]\n',
  );
  expect(await run("git log --grep=a*")).not.toContain("no shell");
});

test("an answer says what the command changed, and the feed has it as the cause", async () => {
  const before = textOf(await connected.call("coder_changes", {}));
  const since = /[0-9a-f]{12}:\d+/.exec(before)![0];
  const text = await sh("echo two >> a.txt; echo new > new.txt; rm sub/b.txt; mkdir .git; echo x > .git/x");
  expect(text).toMatch(
    /^\[changed while it ran: 1 deleted file \(sub\/b\.txt\), 2 files \(a\.txt, new\.txt\), \.git\]\n\[exit code 0/,
  );
  expect(await sh("mkdir dist; echo x > dist/a; echo x > dist/b; mv a.txt c.txt")).toStartWith(
    "[changed while it ran: 1 moved file (a.txt to c.txt), 1 new folder with 2 files (dist/)]",
  );
  expect(await sh("rm -r dist; mkdir dist; echo x > dist/a; mv c.txt a.txt")).toStartWith(
    "[changed while it ran: 1 deleted file (dist/b), 1 moved file (c.txt to a.txt), 1 replaced folder with 1 file (dist/)]",
  );
  expect(await sh("mv dist out; mv out dist; mkfifo p; rm p")).not.toContain("[changed");
  writeFileSync(join(connected.base, "by-hand.txt"), "x");
  const answer = textOf(await connected.call("coder_changes", { since }));
  expect(answer).toContain("modified: a.txt (while shell_exec sh ran)");
  expect(answer).toContain("created: by-hand.txt (by another program)\n");
  expect(await sh("cat a.txt")).not.toContain("[changed");
  await sh("for i in 1 2 3 4; do echo x > .git/$i; done");
  const after = /[0-9a-f]{12}:\d+/.exec(answer)![0];
  expect(textOf(await connected.call("coder_changes", { since: after }))).toMatch(
    /^changed: \.git, \d+ entries \(while shell_exec sh ran\)\n\[since /,
  );
});

test("an edit by line numbers says that a command has changed the file since it was read", async () => {
  const call = async (tool: string, args: object) =>
    textOf(await connected.call(`coder_${tool}`, args as Record<string, unknown>));
  const edit = () =>
    call("update_file", {
      files: [{ path: "lines.txt", ops: [{ op: "remove", from_line: 2, to_line: 2 }] }],
    });
  await call("create_file", { path: "lines.txt", content: "one\ntwo\nthree\n" });
  await sh("sed -i '1i zero' lines.txt");
  expect(await edit()).toContain(
    "\n[changed since a file tool last showed it to you or wrote it (while shell_exec sh ran): the line numbers counted in the present text; check the changed lines, and take this edit back with coder_undo if they are wrong]\n#",
  );
  expect(await edit()).not.toContain("[changed since");
  await call("create_file", { path: "lines.txt", content: "1\n2\n3\n4\n5\n6\n7\n", overwrite: true });
  await call("search", { query: "7", path: "lines.txt" });
  await sh("sed -i '1i zero' lines.txt");
  expect(await edit()).toContain("\n[changed since a file tool last showed it to you or wrote it (while");
  await sh("sed -i '1i zero' lines.txt");
  await call("read_file", { path: "lines.txt", line_from: 4 });
  expect(await edit()).toContain("\n[changed since a file tool last showed you these lines (while");
});

test("a job says so too when it has ended", async () => {
  const started = textOf(
    await connected.call("shell_exec_bg", {
      command: "sh",
      args: ["-c", "echo x > made.txt; echo x > /etc/made"],
      start_ms: 1,
    }),
  );
  const id = /job-\d+/.exec(started)![0];
  const ended = textOf(await connected.call("shell_status", { job_id: id, wait_ms: 20_000 }));
  expect(ended).toContain(
    "[sandbox: commands write below the served folder and $TMPDIR only]\n[changed while it ran: 1 file (made.txt)]\n[job-",
  );
});

test("a glob of a snapshot that names a folder, or has backslashes between names, is said to hold nothing", async () => {
  await sh("mkdir -p held; echo x > held/a.c");
  const answer = await connected.call("shell_exec", {
    command: "sh",
    args: ["-c", "echo y > held/a.c"],
    snapshot: ["held", "held\\*.c", "*.none"],
  });
  expect(textOf(answer)).toContain(
    '\n[not undoable: "held" of snapshot names a folder: send "held/", "held\\*.c" of snapshot separates names by backslashes: send "held/*.c", 1 file outside of snapshot]\n',
  );
});

test("what a command changes in files of its snapshot is a checkpoint, which undo takes back", async () => {
  const changing = [
    "printf 'two\\n' > a.txt",
    "chmod 600 big.bin",
    "rm -r sub",
    "mkdir -p new/deep",
    "echo x > new/deep/f.txt",
    "ln -s a.txt new/link.txt",
    "echo x > other.md",
  ].join("; ");
  const answer = await connected.call("shell_exec", {
    command: "sh",
    args: ["-c", changing],
    snapshot: ["*.txt", "*.bin"],
  });
  const text = textOf(answer);
  expect(text).toMatch(/\n\[checkpoint: #\d+, which undo takes back\]\n/);
  expect(text).toContain("\n[not undoable: 1 file outside of snapshot]\n");
  expect(textOf(await connected.call("coder_checkpoints", {}))).toContain("shell_exec");
  const undone = await connected.call("coder_undo", {});
  expect(undone.isError ?? false).toBe(false);
  expect(await sh("cat a.txt sub/b.txt; stat -c %a big.bin; ls")).toStartWith(
    "one\ntwo\n644\na.txt\nbig.bin\nother.md\nsub\n",
  );
  await connected.call("coder_undo", {});
  expect(await sh("cat a.txt new/deep/f.txt; stat -c %a big.bin; ls; readlink new/link.txt")).toStartWith(
    "two\nx\n600\na.txt\nbig.bin\nnew\nother.md\na.txt\n",
  );
});

test("an undo says that it leaves what a later command changed", async () => {
  const note = "[not undone: the newer changes while commands (sh) ran, which have no checkpoint]";
  await connected.call("coder_create_file", { path: "by-call.txt", content: "" });
  expect(textOf(await connected.call("coder_undo", { dry_run: true }))).not.toContain("not undone");
  await sh("echo x > by-command.txt");
  expect(textOf(await connected.call("coder_undo", {}))).toContain(
    `\n  removed: by-call.txt\n${note}\nUndone; `,
  );
  expect(await sh("ls")).toMatch(/^a.txt\nbig.bin\nby-command.txt\n/);
  expect(textOf(await connected.call("coder_undo", {}))).not.toContain("not undone");
});

test("a checkpoint of a command leaves out what calls changed while it ran", async () => {
  const started = await connected.call("shell_exec_bg", {
    command: "sh",
    args: ["-c", "echo ready; while [ ! -e go ]; do :; done; echo command > sub/b.txt; echo command > a.txt"],
    snapshot: ["*.txt"],
    start_ms: 1,
  });
  const job_id = /job-\d+/.exec(textOf(started))![0];
  await connected.call("shell_status", { job_id, wait_for: "ready", wait_ms: 20_000 });
  const edit = await connected.call("coder_create_file", {
    path: "a.txt",
    content: "call\n",
    overwrite: true,
  });
  const edited = /#(\d+)$/.exec(textOf(edit))![1];
  writeFileSync(join(connected.base, "go"), "");
  const ended = await connected.call("shell_status", { job_id, wait_ms: 20_000 });
  expect(textOf(ended)).toContain(`[not undoable: a.txt (#${edited} has changed it too)`);
  const seq = Number(/checkpoint: #(\d+)/.exec(textOf(ended))![1]);
  await connected.call("coder_undo", { seq });
  expect(await sh("cat a.txt sub/b.txt")).toStartWith("command\ntwo\n");
});

test("globs that cannot be read are refused before the command starts", async () => {
  const answer = await connected.call("shell_exec", {
    command: "sh",
    args: ["-c", "echo x > y"],
    snapshot: ["[z"],
  });
  expect(answer.isError).toBe(true);
  expect(textOf(answer)).toStartWith("invalid payload: `snapshot` is not usable: ");
  expect(await sh("ls")).not.toContain("y\n");
});
