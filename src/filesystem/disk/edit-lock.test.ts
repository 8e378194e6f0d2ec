import { describe, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { errnoError } from "../jail/errno.ts";
import { lockExclusively } from "../jail/flock.ts";
import type { Folder } from "../jail/folder.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { createEditLock } from "./edit-lock.ts";

/** Locks a folder like another worker does. */
function lock(path: string): Disposable {
  const descriptor = openSync(path, "r");
  lockExclusively(descriptor);
  return { [Symbol.dispose]: () => closeSync(descriptor) };
}

const expectedRevision = revisionOfBytes([Buffer.from("old\n")]);
const created = { mode: 0o644, overwrite: false, parents: false };
const text = Buffer.from("new\n");

const changes: Readonly<
  Record<string, (bench: FilesFixture, call: FilesFixture["call"]) => Promise<unknown>>
> = {
  "an edit": ({ files }, call) => files.update("in/f", () => text, call),
  "a replacement": ({ files }, call) =>
    files.create("in/f", text, { ...created, overwrite: true, expectedRevision }, call),
  "a creation": ({ files }, call) => files.create("in/new", text, created, call),
  "a removal": ({ files }, call) => files.remove("in/f", { recursive: false, expectedRevision }, call),
  "a move": ({ files }, call) =>
    files.move({ from: "in/f", to: "g", overwrite: false, parents: false, expectedRevision }, call),
};

describe.each(backends)("%s", (backend) => {
  test.each(Object.entries(changes))("%s waits for another worker in its folder", async (_, change) => {
    using bench = new FilesFixture(backend, { "in/f": "old\n" });
    const before = bench.tree();
    {
      using _lock = lock(bench.at("in"));
      const late = { ...bench.call, deadline: deadlineIn(20) };
      expect(await reasonOf(() => change(bench, late))).toBe("timeout");
      expect(bench.tree()).toEqual(before);
    }
    await change(bench, bench.call);
    expect(bench.tree()).not.toEqual(before);
  });
});

test("a worker in another folder delays nothing", async () => {
  using bench = new FilesFixture("openat", { "in/f": "old\n" });
  using _lock = lock(bench.base);
  // An edit waits a second for a lock that is in its way.
  await bench.files.update("in/f", () => text, { ...bench.call, deadline: deadlineIn(900) });
  expect(bench.text("in/f")).toBe("new\n");
});

test("a program that has locked the folder for long delays an edit, and does not keep it from being made", async () => {
  using bench = new FilesFixture("openat", { f: "old\n" });
  using _lock = lock(bench.base);
  await bench.files.update("f", () => text, bench.call);
  expect(bench.text("f")).toBe("new\n");
});

test("the lock of the root takes the place of that of a folder that may not be opened", async () => {
  const log: string[] = [];
  const closed: Pick<Folder, "enter"> = {
    enter() {
      throw errnoError("EACCES");
    },
  };
  const editLock = createEditLock(async () => {
    log.push("locked");
    return { [Symbol.dispose]: () => log.push("open") };
  });
  await editLock({ folder: closed as Folder }, () => log.push("done"));
  expect(log).toEqual(["locked", "done", "open"]);
});
