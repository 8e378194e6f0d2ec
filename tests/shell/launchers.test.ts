/**
 * Programs that run others named in their arguments. With one of them, an allowlist allows everything, so the
 * worker warns when it starts.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerOf } from "./case.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

/** Arguments that make a program run or write `<run>`, under the default `denylist_patterns`. */
const tricks: Readonly<Record<string, readonly string[]>> = {
  awk: ['BEGIN { "<run>" | getline }'],
  env: ["<run>"],
  find: [".", "-maxdepth", "0", "-fprintf", "<made>", ""],
  git: ["-c", "alias.x=!<run>", "x"],
  nice: ["<run>"],
  nohup: ["<run>"],
  sed: ["-n", "1e <run>", "<run>"],
  sh: ["<run>"],
  sort: ["-S", "1k", "--compress-program=<run>", "<large>"],
  split: ["--filter=<run>", "<run>"],
  tar: ["cf", "/dev/null", "--checkpoint=1", "--checkpoint-action=exec=<run>", "."],
  tee: ["<made>"],
  timeout: ["5", "<run>"],
  xargs: ["-a", "<run>", "<run>"],
};

let served: ShellFixture;
beforeAll(async () => {
  served = await startShell("source", {
    allowlist: [...Object.keys(tricks), "cat", "no-such-tool"],
    denylist_patterns: null,
    os_sandbox: "off",
  });
  writeFileSync(join(served.folder, "large"), "line\n".repeat(100_000));
  writeFileSync(join(served.folder, "run"), `#!/bin/sh\n: > '${join(served.folder, "made")}'\n`, {
    mode: 0o755,
  });
});
afterAll(() => served?.stop());

test.each(Object.entries(tricks))("%s", async (command, args) => {
  const { folder } = served;
  const made = join(folder, "made");
  rmSync(made, { force: true });
  const words = args.map((word) => word.replaceAll(/<(\w+)>/g, (_, name: string) => join(folder, name)));
  answerOf(await served.call("shell::exec", { command, args: words, cwd: folder }));
  expect(existsSync(made)).toBe(true);
});

test("the start names each of them, and no other", () => {
  expect(served.worker.stderr()).toContain(`"programs":"${Object.keys(tricks).join(" ")}"`);
});

test("the start names a program that is in no folder where programs are looked up", () => {
  expect(served.worker.stderr()).toContain('"programs":"no-such-tool"');
});
