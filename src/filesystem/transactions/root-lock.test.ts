import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Refusal } from "../../base/errors.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { temporaryName } from "../jail/temporary.ts";
import { openStateFolder } from "../state/state-folder.ts";
import { lockRoot, tryLockByName } from "./root-lock.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "coder-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("one at a time has it, the next when that is done", async () => {
  const folder = openStateFolder({ dir, roots: [{ name: ".", hostPath: "/srv/somewhere" }] });
  const first = await lockRoot(folder);
  let isTaken = false;
  const second = lockRoot(folder).then((lock) => {
    isTaken = true;
    return lock;
  });
  await new Promise(setImmediate);
  expect(isTaken).toBe(false);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
});

test("who waits longer than its deadline gets the timeout refusal", async () => {
  const folder = openStateFolder({ dir, roots: [{ name: ".", hostPath: "/srv/somewhere" }] });
  using _held = await lockRoot(folder);
  await expect(lockRoot(folder, deadlineIn(5))).rejects.toBeInstanceOf(Refusal);
});

test("by a name: one at a time, and one that a process has left behind is broken", () => {
  const path = join(dir, "lock.held");
  const first = tryLockByName(path)!;
  expect(tryLockByName(path)).toBeUndefined();
  expect(existsSync(path)).toBe(true);
  first[Symbol.dispose]();
  expect(readdirSync(dir)).toEqual([]);
  // The file of an ended process that had our process id.
  writeFileSync(path, temporaryName().replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1"));
  expect(tryLockByName(path)).toBeUndefined();
  tryLockByName(path)![Symbol.dispose]();
  expect(readdirSync(dir)).toEqual([]);
});
