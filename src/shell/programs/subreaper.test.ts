import { expect, test } from "bun:test";
import { once } from "node:events";
import { execa } from "execa";
import { createSubreaper } from "./subreaper.ts";

const start = (script: string) =>
  execa("/bin/sh", ["-c", script], { detached: true, stdio: "ignore", reject: false });

/** Waits for a child to become a zombie without giving the runtime a turn to reap it. */
function awaitZombie(pid: number): void {
  while (!Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]).stdout.includes("Z"));
}

test("a subreaper leaves the exit code of another's program to the runtime", async () => {
  const [first, second] = [createSubreaper(() => {}), createSubreaper(() => {})];
  const program = start("exit 7");
  const pid = program.pid as number;
  const exited = once(program, "exit");
  first.add({ session: pid, exited, ended: exited });
  awaitZombie(pid);
  second.reap();
  expect((await program).exitCode).toBe(7);
});

test("a subreaper does not report another's program as escaped", async () => {
  const reported: unknown[] = [];
  const [first, second] = [createSubreaper(() => {}), createSubreaper((escaped) => reported.push(escaped))];
  const program = start("exec sleep 600");
  const pid = program.pid as number;
  const exited = once(program, "exit");
  first.add({ session: pid, exited, ended: exited });
  second.reap();
  process.kill(-pid, "SIGKILL");
  await program;
  expect(reported).toEqual([]);
});
