/** Commands whose processes multiply faster than a list of them can be read. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { answerOf } from "../case.ts";
import { type ShellFixture, startShell } from "../shell-fixture.ts";
import { hasGroups } from "./scene.ts";

let confined: ShellFixture;
beforeAll(async () => {
  confined = await startShell("executable", {
    allowlist: ["perl"],
    os_sandbox: "required",
    fs: { host_root: "<folder>" },
    limits: { processes: 64 },
  });
});
afterAll(() => confined?.stop());

function tryRead(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Returns a script of process chains. Each process starts the next and exits, while `ARGV[0]` exists. */
const bomb = (step: string) =>
  `for (1 .. 30) { next if fork // 1; while (-e $ARGV[0]) { exit if fork; ${step} } exit } sleep 20`;

test.each([
  ["in the process group of the command", ""],
  ["in ever new process groups", "setpgrp;"],
])("a fork bomb %s ends with its call", async (_, step) => {
  const go = join(mkdtempSync(join(confined.folder, "case-")), "go");
  writeFileSync(go, "");
  const command = { command: "perl", args: ["-e", bomb(step), go], timeout_ms: 1000 };
  expect(answerOf(await confined.call("shell::exec", command))).toMatchObject({ timed_out: true });
  const isLeft = () => readdirSync("/proc").some((id) => tryRead(`/proc/${id}/cmdline`).includes(go));
  // Only a control group ends all processes for certain, and killed ones take a moment to disappear.
  while (hasGroups(confined) && isLeft()) await pause(10);
  rmSync(go);
});
