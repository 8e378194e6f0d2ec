/** Commands of a server with several roots, each of which has rules of its own, also inside another one. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type CallToolResult, Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandOf, compilerOptions, stateFolder } from "../harness/subject.ts";
import type { Tree } from "../harness/tree.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

interface Root {
  readonly path: string;
  readonly read_only?: boolean;
  readonly non_accessible_globs?: readonly string[];
}

const tree: Tree = {
  "app/main.txt": "main\n",
  "app/notes.private": "private of app\n",
  "app/packages/core/index.txt": "core\n",
  "app/packages/core/notes.private": "public in core\n",
  "app/packages/core/key.secret": "secret of core\n",
  "app/packages/core/deep/own/file.txt": "deep\n",
  "app/packages/core/.env": "secret of all\n",
  "beta/notes.private": "public in beta\n",
};

/** Serves folders of the tree as roots, with commands that the kernel confines. */
function connectRoots(roots: Readonly<Record<string, Root>>, more: object = {}) {
  return connectStdio("executable", {
    tree,
    args: ["--commands", "--allow", "sh,git"],
    configure: (base) => ({
      base_path: undefined,
      roots: Object.entries(roots).map(([name, root]) => ({ name, ...root, path: join(base, root.path) })),
      commands: { os_sandbox: "required" },
      ...more,
    }),
  });
}

const shOf =
  (connected: McpFixture, cwd?: string) =>
  async (line: string): Promise<string> =>
    textOf(
      await connected.call("shell_exec", {
        command: "sh",
        args: ["-c", line],
        ...(cwd !== undefined && { cwd }),
      }),
    );

const core = { path: "app/packages/core", non_accessible_globs: ["*.secret"] };
const app = { path: "app", non_accessible_globs: ["**/*.private"] };

describe("a root in another one", () => {
  test.each([
    ["that is writable", {}, "app", "packages/core/"],
    ["from its own folder", {}, "core", ""],
    ["that is read-only", { read_only: true }, "app", "packages/core/"],
    ["that is read-only, from its own folder", { read_only: true }, "core", ""],
  ])("%s has its own rules for commands", async (_, parent, cwd, at) => {
    await using connected = await connectRoots({ app: { ...app, ...parent }, core });
    const sh = shOf(connected, cwd);
    expect(await sh(`cat ${at}index.txt ${at}notes.private`)).toStartWith("core\npublic in core\n");
    expect(await sh(`echo changed > ${at}index.txt; echo new > ${at}new.txt; cat ${at}new.txt`)).toStartWith(
      "new\n",
    );
    expect(readFileSync(join(connected.base, "app/packages/core/index.txt"), "utf8")).toBe("changed\n");
    expect(await sh(`cat ${at}key.secret ${at}.env`)).not.toContain("secret of");
    expect(await shOf(connected, "app")("cat notes.private")).not.toContain("private of app");
    // Without the rules of that root, its files are read.
    await using control = await connectRoots({ app, core: { path: core.path } });
    expect(await shOf(control, cwd)(`cat ${at}key.secret`)).toStartWith("secret of core\n");
  });

  test("is hidden with a note where root reads blank lines, from every folder", async () => {
    await using connected = await connectRoots({ app, core });
    for (const [cwd, line] of [
      ["core", "cat key.secret"],
      ["app", "cat packages/core/key.secret"],
      ["core/deep", "cat ../key.secret"],
      ["core", "grep -r secret ."],
    ] as const)
      expect(await shOf(connected, cwd)(line)).toContain("[sandbox: core/key.secret is hidden: ");
  });

  test("is committed from the repository around it as it is", async () => {
    await using connected = await connectRoots({ app, core });
    const folder = join(connected.base, "app");
    execFileSync("git", ["init", "-q", folder]);
    await connected.call("coder_create_file", { path: "core/new.txt", content: "made by a call\n" });
    const commit = "git -c user.name=a -c user.email=a@b commit -qm work";
    expect(await shOf(connected)(`git add -A && ${commit}`)).toContain("[exit code 0");
    const shown = execFileSync("git", ["-C", folder, "show", "HEAD:packages/core/new.txt"]);
    expect(String(shown)).toBe("made by a call\n");
  });

  test("is named by its own name in what a command has met", async () => {
    await using connected = await connectRoots({ app, core });
    expect(await shOf(connected)("mv packages/core/key.secret packages/core/other")).toContain(
      "[sandbox: core/key.secret is hidden: commands do not change, move or remove it]",
    );
  });
});

describe("a read-only root in a writable one", () => {
  const lines = {
    "change a file": "echo x > index.txt",
    "make a file": "echo x > made.txt",
    "remove a file": "rm index.txt",
    "make a folder": "mkdir made",
    "change the mode of a file": "chmod 700 index.txt",
    "rename the folder": "cd ..; mv core moved",
    "rename the folder above": "cd ../..; mv packages moved; echo x > moved/core/made.txt",
    "mount it again": "mount -o remount,rw,bind .; echo x > made.txt",
    "unmount it": "cd ..; umount -l core; echo x > core/made.txt",
    "unmount it in a namespace":
      "unshare --user --map-root-user --mount sh -c 'umount -l .; echo x > made.txt'; echo x > made.txt",
    "reach it by another path": 'echo x > "/proc/self/root$PWD/made.txt"',
  };
  const folders = ["packages", "packages/core", "packages/core/deep", "packages/core/deep/own"];

  /** Fills the roots again, and keeps those that are there: a worker reopens others. */
  function refill(base: string): void {
    const outer = join(base, "app");
    const kept = folders.map((folder) => join(outer, folder));
    for (const folder of [outer, ...kept]) {
      mkdirSync(folder, { recursive: true });
      for (const path of readdirSync(folder).map((name) => join(folder, name)))
        if (!kept.includes(path)) rmSync(path, { recursive: true, force: true });
    }
    for (const folder of [outer, ...kept]) writeFileSync(join(folder, "index.txt"), "text\n");
  }

  const servers: McpFixture[] = [];
  beforeAll(async () => {
    for (const read_only of [false, true])
      servers.push(
        await connectRoots({
          app: { path: "app" },
          core: { path: core.path, read_only },
          own: { path: `${core.path}/deep/own` },
        }),
      );
  });
  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    for (const { base } of servers) refill(base);
  });

  test.each(Object.entries(lines))("cannot be changed by commands: %s", async (_, line) => {
    const isChanged = [];
    for (const server of servers) {
      const at = join(server.base, core.path);
      // The worker itself makes a file in the writable root that lies there, to try how names compare.
      const ofOthers = ["-not", "-path", "*/own*", "-printf", "%p %m %s %T@\n"];
      const state = () => existsSync(at) && execFileSync("find", [at, ...ofOthers], { encoding: "utf8" });
      const before = state();
      await shOf(server, "core")(line);
      isChanged.push(state() !== before);
    }
    expect(isChanged).toEqual([true, false]);
  });

  test("cannot be changed from the root around it, and a writable one in it can", async () => {
    const line = folders.map((folder) => `echo x > ${folder}/made.txt`).join("; ");
    const made = [];
    for (const server of servers) {
      await shOf(server, "app")(line);
      made.push(folders.map((folder) => existsSync(join(server.base, "app", folder, "made.txt"))));
    }
    expect(made).toEqual([
      [true, true, true, true],
      [true, false, false, true],
    ]);
    const [, server] = servers as [McpFixture, McpFixture];
    expect(await shOf(server, "own")("echo y >> made.txt; cat made.txt")).toStartWith("x\ny\n");
    writeFileSync(join(server.base, "app/packages/core/index.txt"), "by another program\n");
    expect(await shOf(server, "app")("cat packages/core/index.txt")).toStartWith("by another program\n");
  });
});

test("a read-only root beside a writable one keeps its modes, owners and times too", async () => {
  const line = "echo x >> notes.private; chmod 600 notes.private .; touch -d 2011-01-01 notes.private .";
  const changed = [];
  for (const read_only of [false, true]) {
    await using connected = await connectRoots({ app: { path: "app" }, beta: { path: "beta", read_only } });
    const folder = join(connected.base, "beta");
    const state = () => execFileSync("find", [folder, "-printf", "%p %m %U %s %T@\n"], { encoding: "utf8" });
    const before = state();
    await shOf(connected, "beta")(line);
    changed.push(state() !== before);
    // The mount uncovers nothing that is denied in it.
    writeFileSync(join(folder, ".env"), "secret\n");
    expect(await shOf(connected, "beta")("cat .env")).not.toContain("secret\n");
  }
  expect(changed).toEqual([true, false]);
});

test("the errors of mounts are explained: busy folders, relative names in a read-only root, renames across", async () => {
  const nested = { path: "app/packages/core", read_only: true };
  await using connected = await connectRoots({ app: { path: "app" }, nested });
  mkdirSync(join(connected.base, "app/config/deep"), { recursive: true });
  for (const name of ["deep/.env", "file"]) writeFileSync(join(connected.base, "app/config", name), "text\n");
  const sh = shOf(connected);
  const end = "and so neither it nor the folders above it can be moved or removed]";
  const ofRoot = `[sandbox: app/packages/core is a read-only root, ${end}`;
  expect(await sh("mv packages other")).toContain(ofRoot);
  expect(await sh("cd packages && rmdir core")).toContain(ofRoot);
  expect(await sh("mv config other")).toContain(`[sandbox: app/config/deep/.env is hidden, ${end}`);
  expect(await sh("cd packages/core && touch new")).toContain(
    "[sandbox: commands write below the root app and $TMPDIR only, and the root nested is read-only for them]",
  );
  expect(await sh("ln config/file linked")).toContain(
    "[sandbox: no rename or hard link leads into or out of",
  );
  expect(await sh("mv config/file moved")).toContain("[exit code 0, ");
  expect(readdirSync(join(connected.base, "app")).sort()).toEqual(
    ["config", "moved", "notes.private", "main.txt", "packages"].sort(),
  );
});

describe("where commands run", () => {
  const roots = { app: { path: "app" }, beta: { path: "beta", read_only: true } };

  test.each(["shell_exec", "shell_exec_bg"])(
    "%s refuses the folder above the roots, and names them",
    async (tool) => {
      await using connected = await connectRoots(roots);
      for (const cwd of [".", "./", "app/.."]) {
        const refused = await connected.call(tool, { command: "pwd", cwd });
        expect(refused.isError).toBe(true);
        expect(textOf(refused)).toBe(
          `S210: The \`cwd\` ${JSON.stringify(cwd)} is the top folder, which holds only the roots and is on no disk, so no command runs in it. Nothing was run. Send a root as \`cwd\`: "app" or "beta"; without \`cwd\` a command runs in "app".`,
        );
      }
    },
  );

  test.each(["shell_exec", "shell_exec_bg"])(
    "%s refuses a folder in none of them, and names them",
    async (tool) => {
      await using connected = await connectRoots(roots);
      symlinkSync("/", join(connected.base, "app/out"));
      const advice = `Nothing was run. Send a root, or a folder in one, as \`cwd\`: "app" or "beta"; without \`cwd\` a command runs in "app".`;
      const textFor = async (cwd: string) => textOf(await connected.call(tool, { command: "pwd", cwd }));
      for (const cwd of ["/usr", "../x", "gamma", "./gamma/src"]) {
        const text = await textFor(cwd);
        expect(text).toMatch(/^S21[15]: /);
        expect(text).toEndWith(`The \`cwd\` ${JSON.stringify(cwd)} is in none of the roots. ${advice}`);
      }
      expect(await textFor("app/out")).toEndWith(
        `The \`cwd\` "app/out" goes through a link that leads nowhere, or to none of the roots. ${advice}`,
      );
      expect(await textFor("app/missing")).toContain('"app/missing" is not found');
    },
  );

  test("the instructions say it for several roots, and name those that commands only read", async () => {
    await using connected = await connectRoots(roots);
    const text = connected.client.getInstructions();
    expect(text).toContain(
      'Commands run in the root "app", or in cwd, a path that begins with the name of a root, and find relative paths from there: ',
    );
    expect(text).toContain("Commands write below the root app and $TMPDIR, and read");
    expect(text).toContain(" The root beta is read-only for them.");
    const answer = textOf(await connected.call("shell_exec", { command: "sh -c 'echo x > /var/new'" }));
    expect(answer).toContain(
      "[sandbox: commands write below the root app and $TMPDIR only, and the root beta is read-only for them]",
    );
  });

  test.each([
    ["moved away", (folder: string) => renameSync(folder, `${folder}2`)],
    ["removed", (folder: string) => rmSync(folder, { recursive: true })],
  ])("no command runs in the first root when it is %s, and one does when it is back", async (_, takeAway) => {
    await using connected = await connectRoots(roots);
    const folder = join(connected.base, "app");
    expect(await shOf(connected)("pwd")).toStartWith(`${folder}\n`);
    takeAway(folder);
    for (const tool of ["shell_exec", "shell_exec_bg"])
      for (const more of [{}, { cwd: "app" }]) {
        const refused = await connected.call(tool, { command: "pwd", ...more });
        expect(refused.isError).toBe(true);
        expect(textOf(refused)).toStartWith('S216: The root "app" is gone: it was removed or moved away ');
      }
    expect(await shOf(connected, "beta")("pwd")).toStartWith(`${connected.base}/beta\n`);
    mkdirSync(folder);
    expect(await shOf(connected)("echo x > new.txt; pwd; ls")).toStartWith(`${folder}\nnew.txt\n`);
  });

  test.each([
    ["coder", ["--commands"]],
    ["shell", ["--worker", "shell"]],
  ])("no command runs in the one folder of the worker %s when it is moved away", async (_, args) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "base/sub"), { recursive: true });
    const [command, ...before] = commandOf("executable");
    const client = new Client({ name: "tests", version: "1.0.0" });
    const base = join(folder, "base");
    const all = [...before, "mcp", "--base-path", base, ...args];
    const env = { ...compilerOptions, XDG_STATE_HOME: stateFolder() };
    await client.connect(new StdioClientTransport({ command, args: all, env, stderr: "ignore" }));
    const pwd = async (cwd?: string) => {
      const args = { command: "pwd", ...(cwd !== undefined && { cwd }) };
      return textOf((await client.callTool({ name: "shell_exec", arguments: args })) as CallToolResult);
    };
    expect(await pwd()).toStartWith(`${base}\n`);
    renameSync(base, `${base}2`);
    for (const cwd of [undefined, ".", "sub"])
      expect(await pwd(cwd)).toStartWith("S216: The base folder is gone: it was removed or moved away ");
    await client.close();
    rmSync(folder, { recursive: true });
  });
});

describe("rules of one root", () => {
  const roots = { app, beta: { path: "beta" } };

  test("are told with its name, and hold for commands in it alone", async () => {
    await using connected = await connectRoots(roots, { non_accessible_globs: ["**/.env", "beta/vault"] });
    expect(connected.client.getInstructions()).toContain(
      "Hidden from commands, which do not find their content: **/.env, beta/vault, app/**/*.private, ",
    );
    expect(await shOf(connected, "beta")("cat notes.private")).toStartWith("public in beta\n");
    expect(await shOf(connected, "app")("cat notes.private")).not.toContain("private of app");
  });

  test("hold for git in its repositories, and not in those of others nor in a root inside it", async () => {
    await using connected = await connectRoots({ ...roots, core });
    const own = (name: string) => join(connected.base, name);
    const commit = "git -c user.name=a -c user.email=a@b commit -qm work";
    for (const folder of ["app", "beta"]) execFileSync("git", ["init", "-q", own(folder)]);
    for (const [cwd, names] of [
      ["beta", "notes.private"],
      ["app", "notes.private packages/core/notes.private packages/core/key.secret"],
    ] as const) {
      await shOf(connected, cwd)(`git add -A; ${commit}`);
      const listed = execFileSync("git", ["-C", own(cwd), "ls-files", ...names.split(" ")]);
      expect(String(listed)).toBe(cwd === "app" ? "packages/core/notes.private\n" : "notes.private\n");
    }
    for (const path of ["beta/notes.private", "core/notes.private"])
      await connected.call("coder_create_file", { path, content: "edited\n", overwrite: true });
    for (const [cwd, path] of [
      ["beta", "notes.private"],
      ["app", "packages/core/notes.private"],
    ] as const) {
      await shOf(connected, cwd)(`git add -A; ${commit}`);
      expect(String(execFileSync("git", ["-C", own(cwd), "show", `HEAD:${path}`]))).toBe("edited\n");
    }
  });

  test("against writing hold for what is there, and for everything in a folder", async () => {
    const globs = { write_deny_globs: ["beta/locked/**", "beta/*.lock"] };
    const made = [];
    for (const more of [{}, globs]) {
      await using connected = await connectRoots(roots, more);
      mkdirSync(join(connected.base, "beta/locked"));
      writeFileSync(join(connected.base, "beta/a.lock"), "");
      const answer = await shOf(connected, "beta")("echo x > locked/q.txt; echo x > a.lock; echo x > b.lock");
      const content = (name: string) =>
        existsSync(join(connected.base, "beta", name)) &&
        readFileSync(join(connected.base, "beta", name), "utf8");
      made.push(["locked/q.txt", "a.lock", "b.lock"].map(content));
      if (more !== globs) continue;
      expect(connected.client.getInstructions()).toContain(
        " Read-only for them, where it exists: beta/locked/**, beta/*.lock. Make nothing new that matches: ",
      );
      expect(answer).toContain(
        "[sandbox: beta/a.lock is read-only for commands, since the user's write_deny_globs cover it; the user can open it with write_allow_globs]",
      );
      expect(answer).toContain(
        "[sandbox: made beta/b.lock, which the user's write_deny_globs keep from being changed: tell the user]",
      );
      expect(answer).not.toContain("other programs");
    }
    expect(made).toEqual([
      ["x\n", "x\n", "x\n"],
      [false, "", "x\n"],
    ]);
  });
});
