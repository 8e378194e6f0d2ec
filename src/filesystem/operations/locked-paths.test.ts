/** Tests that each verb waits for earlier calls on its paths, and on the folders above and below them. */
import { describe, expect, test } from "bun:test";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import type { Requester } from "../disk/mutation.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";

type Verb = (bench: FilesFixture, call: Requester) => Promise<unknown>;

const owners = { uid: undefined, gid: undefined };

/** Verbs that change the folder `d` as a whole. */
const ofFolder: Readonly<Record<string, Verb>> = {
  "a move of the folder": ({ files }, call) =>
    files.move({ from: "d", to: "e", overwrite: false, parents: false }, call),
  "a move of a folder above": ({ files }, call) =>
    files.move({ from: "o", to: "e", overwrite: false, parents: false }, call),
  "a rename of the folder": ({ files }, call) => files.rename({ from: "d", to: "e", overwrite: false }, call),
  "a rename onto the folder": ({ files }, call) =>
    files.rename({ from: "n", to: "d", overwrite: true }, call),
  "a removal": ({ files }, call) => files.remove("d", { recursive: true }, call),
  "a removal of whatever is there": ({ files }, call) => files.unlink("d", { recursive: true }, call),
  "a copy": ({ files }, call) => files.copy({ from: "d", to: "e", overwrite: false, parents: false }, call),
  "a change of modes": ({ files }, call) =>
    files.changeMode("d", { ...owners, mode: 0o700, recursive: true }, call),
  "a change of its mode": ({ files }, call) =>
    files.changeMode("d", { ...owners, mode: 0o700, recursive: false }, call),
  "making it again": ({ files }, call) => files.makeFolder("d", { parents: true }, call),
};

const tree = { "d/f": "f", "n/": null, "o/d/f": "f" };

/** The path that an edit holds while a verb comes. */
const heldBy = (verb: string): string => (verb === "a move of a folder above" ? "o/d/f" : "d/f");

describe.each(Object.entries(ofFolder))("%s", (name, verb) => {
  test("waits for an edit below it, no longer than its deadline", async () => {
    using bench = new FilesFixture("openat", tree);
    const begun = Promise.withResolvers<void>();
    const ending = Promise.withResolvers<void>();
    const edit = bench.files.update(
      heldBy(name),
      async () => {
        begun.resolve();
        await ending.promise;
        return Buffer.from("edited");
      },
      bench.call,
    );
    await begun.promise;
    const before = bench.tree();
    expect(await reasonOf(() => verb(bench, { ...bench.call, deadline: deadlineIn(5) }))).toBe("timeout");
    expect(bench.tree()).toEqual(before);
    let isOver = false;
    const waiting = reasonOf(() => verb(bench, bench.call)).then((reason) => {
      isOver = true;
      return reason;
    });
    const beside = { mode: 0o644, overwrite: false, parents: false };
    await bench.files.create("beside", Buffer.from("b"), beside, bench.call);
    expect([isOver, bench.text("beside")]).toEqual([false, "b"]);
    ending.resolve();
    await edit;
    expect(await waiting).toBe(name === "a rename onto the folder" ? "io" : "done");
  });
});

test("edits of files in one folder do not wait for each other", async () => {
  using bench = new FilesFixture("openat", tree);
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = bench.files.update("d/f", () => promise.then(() => Buffer.from("slow")), bench.call);
  const created = { mode: 0o644, overwrite: false, parents: true };
  await bench.files.create("d/g", Buffer.from("g"), created, bench.call);
  await bench.files.makeFolder("d/in/deep", { parents: true }, bench.call);
  await bench.files.move({ from: "d/g", to: "d/in/g", overwrite: false, parents: false }, bench.call);
  expect([bench.text("d/f"), bench.text("d/in/g")]).toEqual(["f", "g"]);
  resolve();
  await slow;
  expect(bench.text("d/f")).toBe("slow");
});
