/** Folders with denied files that commands may write. Each attempt has a control, which gets the secret. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { answerOf } from "../case.ts";
import { type ShellFixture, startShell } from "../shell-fixture.ts";

const config = {
  allowlist: ["bash"],
  allowed_env: ["PATH"],
  denylist_patterns: [],
  default_timeout_ms: 20_000,
  max_timeout_ms: 20_000,
  fs: {
    host_root: "<folder>",
    denylist_paths: [
      "<folder>/.env",
      "<folder>/config/keys/private",
      "<folder>/hidden",
      "<folder>/links/link",
      "<folder>/absent",
    ],
  },
};

/** Fills the folder again, so that attempts do not affect each other. */
function refill(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  for (const name of ["config/keys", "hidden/below", "links", "linked", "free"])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of [".env", "config/keys/private", "hidden/below/file", "linked/file"])
    writeFileSync(join(folder, name), "secret\n");
  symlinkSync("../linked/file", join(folder, "links/link"));
}

/** Lines of bash. Each starts in the root, or in the folder `cwd` below it. */
const attempts: Readonly<Record<string, { readonly line: string; readonly cwd?: string }>> = {
  "read a file": { line: "cat .env" },
  "read a file deeper in": { line: "cat config/keys/private" },
  "read a file in a denied folder": { line: "cat hidden/below/file" },
  "enter a denied folder": { line: "cd hidden/below && cat file" },
  "read a file from its folder": { line: "cat private", cwd: "config/keys" },
  "read a file from the folder above": { line: "cat keys/private", cwd: "config" },
  "read a file by ..": { line: "cat ../../.env", cwd: "config/keys" },
  "read a file by /proc/self/cwd": { line: "cat /proc/self/cwd/private", cwd: "config/keys" },
  "read a file by /proc/self/root": { line: 'cat "/proc/self/root$PWD/.env"' },
  "read the target of a link": { line: "cat linked/file" },
  "rename a file": { line: "mv .env other; cat other" },
  "rename its folder": { line: "mv config/keys config/other; cat config/other/private" },
  "rename the folder above": { line: "mv config other; cat other/keys/private" },
  "rename a denied folder": { line: "mv hidden other; cat other/below/file" },
  "rename the folder of a target": { line: "mv linked other; cat other/file" },
  "exchange a file": { line: "touch new; mv --exchange new .env; cat new .env" },
  "replace a link": { line: "ln -sf nothing links/link; cat linked/file" },
  "link a file": { line: "ln .env other; cat other" },
  "copy everything": { line: 'to=${TMPDIR:-..}; cp -r . "$to/all"; cat "$to/all/.env"' },
  "unmount a file": { line: "umount .env; umount -l .env; cat .env" },
  "unmount in a namespace": {
    line: "unshare --user --map-root-user --mount bash -c 'umount .env; cat .env'; cat .env",
  },
  "mount the folder again": { line: "mkdir other; mount --bind . other; cat other/.env .env; umount other" },
  "change its rights": { line: "chmod 777 .env hidden; cat .env hidden/below/file" },
};

let free: ShellFixture;
let confined: ShellFixture;
let hasMounts = false;
beforeAll(async () => {
  free = await startShell("executable", { ...config, os_sandbox: "off" });
  confined = await startShell("executable", { ...config, os_sandbox: "required" });
  const user = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const mount = ["mount", "--bind", "/dev/null", "/dev/zero"];
  hasMounts = !(await execa("unshare", [...user, "--mount", ...mount], { reject: false })).failed;
});
afterAll(async () => {
  await free?.stop();
  await confined?.stop();
});

async function run(served: ShellFixture, line: string, cwd = "."): Promise<Record<string, unknown>> {
  const payload = { command: "bash", args: ["-c", line], cwd: join(served.folder, cwd) };
  return answerOf(await served.call("shell::exec", payload));
}

test("the worker finds out whether the system lets it mount", () => {
  expect(confined.worker.stderr()).toContain(`"mounts":${hasMounts}`);
});

describe("a command cannot", () => {
  test.each(Object.entries(attempts))("%s, nor can the next one", async (_, { line, cwd }) => {
    const outputs = [];
    for (const served of [free, confined]) {
      refill(served.folder);
      const { stdout } = await run(served, line, cwd);
      const { stdout: next } = await run(served, "grep -rsh secret .");
      outputs.push([String(stdout).includes("secret"), String(next).includes("secret")]);
    }
    expect(outputs).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});

test("a command works beside what is denied, where the system lets the worker mount", async () => {
  refill(confined.folder);
  const lines = [
    "echo one > new && cat new && mv new free/new && rm free/new",
    "mkdir config/keys/more && echo one > config/keys/more/file && rm -r config/keys/more",
    "echo one > links/new && mv links/new linked/new || mv linked/new free",
    "git init -q . && echo one > file && git add file && git -c user.name=a -c user.email=a@b commit -qm first && git status --short",
  ];
  const codes = [];
  for (const line of lines) codes.push((await run(confined, line))["exit_code"]);
  expect(codes.map((code) => code === 0)).toEqual(lines.map(() => hasMounts));
});

test("what a command makes itself at a denied path is its own, and nobody else's after it", async () => {
  refill(confined.folder);
  const line = "echo secret > absent && cat absent";
  expect((await run(confined, line))["stdout"]).toBe(hasMounts ? "secret\n" : "");
  writeFileSync(join(confined.folder, "absent"), "secret\n");
  // For root, the content of a denied file reads as blank lines.
  expect(String((await run(confined, "cat absent"))["stdout"]).trim()).toBe("");
});
