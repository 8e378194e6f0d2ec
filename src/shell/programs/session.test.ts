import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { checkSession } from "./session.ts";

test("of many sessions checked in one turn, most wait for the next turns", async () => {
  const leader = spawn("sleep", ["600"], { detached: true });
  try {
    await once(leader, "spawn");
    const checks = Array.from({ length: 1000 }, () => checkSession(leader.pid as number));
    expect(checks.filter((check) => check instanceof Promise).length).toBeGreaterThan(500);
    expect(new Set(await Promise.all(checks))).toEqual(new Set(["sent"]));
  } finally {
    leader.kill("SIGKILL");
  }
});
