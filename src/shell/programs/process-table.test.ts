import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { visitMembers } from "./process-table.ts";

test("a session of zombies is gone after two passes", async () => {
  // The zombie leads a session of its own. It ends once its parent is a program that never waits for it.
  const child = "until grep -q sleep /proc/$PPID/comm; do :; done";
  const parent = spawn("sh", ["-c", `setsid sh -c '${child}' & echo $!; exec sleep 600`]);
  try {
    const [piece] = (await once(parent.stdout, "data")) as [Buffer];
    const session = Number(piece.toString());
    while (!/\) Z .*/.test(readFileSync(`/proc/${session}/stat`, "latin1"))) await setImmediate();
    let passes = 0;
    const readIds = () => {
      passes++;
      return [session];
    };
    expect(runAtOnce(visitMembers(session, () => true, readIds))).toBe(false);
    expect(passes).toBe(2);
  } finally {
    parent.kill("SIGKILL");
  }
});

test("each process of a session is a step, and a visit may end at the first", async () => {
  const children = 20;
  const script = `for i in $(seq ${children}); do sleep 600 & done; echo; wait`;
  const leader = spawn("sh", ["-c", script], { detached: true });
  const session = leader.pid as number;
  try {
    await once(leader.stdout, "data");
    const visited = new Set<number>();
    const all = visitMembers(session, (id) => {
      visited.add(id);
      return false;
    });
    let steps = 0;
    while (!all.next().done) steps++;
    expect(visited.size).toBe(children + 1);
    expect(steps).toBeGreaterThan(children);
    const first: number[] = [];
    expect(runAtOnce(visitMembers(session, (id) => first.push(id) > 0))).toBe(true);
    expect(first).toHaveLength(1);
  } finally {
    process.kill(-session, "SIGKILL");
  }
});
