/** Undoes a thousand random mutations, and then undoes that. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { compareSnapshots, type Tree } from "../../../tests/harness/tree.ts";
import { Refusal } from "../../base/errors.ts";
import { JournalFixture } from "./journal.test-kit.ts";

const start: Tree = {
  "a/a": "one",
  "a/b/c": { text: "two", mode: 0o600 },
  "a/empty/": null,
  "b/l": { link: "../a/a" },
  "b/dangling": { link: "nowhere" },
  c: { text: "three", mode: 0o755 },
  "closed/": { mode: 0o500 },
  "closed/x": "four",
};

const name = fc.constantFrom("a", "b", "c", "l", "empty", "closed");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const mode = fc.constantFrom(0o600, 0o644, 0o755, 0o700, 0o500);
const content = fc.constantFrom("", "x", "yy\n", "z".repeat(5000));

const mutation = fc.oneof(
  fc.record({ kind: fc.constant("create" as const), path, content, mode, overwrite: fc.boolean() }),
  fc.record({ kind: fc.constant("store" as const), path, content }),
  fc.record({ kind: fc.constant("update" as const), path, content }),
  fc.record({ kind: fc.constant("remove" as const), path, recursive: fc.boolean() }),
  fc.record({ kind: fc.constant("move" as const), path, to: path, overwrite: fc.boolean() }),
  fc.record({ kind: fc.constant("rename" as const), path, to: path, overwrite: fc.boolean() }),
  fc.record({ kind: fc.constant("copy" as const), path, to: path, overwrite: fc.boolean() }),
  fc.record({ kind: fc.constant("make-folder" as const), path, mode }),
  fc.record({ kind: fc.constant("change-mode" as const), path, mode, recursive: fc.boolean() }),
);

type RandomMutation = typeof mutation extends fc.Arbitrary<infer One> ? One : never;

async function* inPieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Makes a mutation. Resolves to false if it is refused. */
async function isMade({ files, call }: JournalFixture, one: RandomMutation): Promise<boolean> {
  const requester = call();
  const { path } = one;
  const act = () => {
    if (one.kind === "create") {
      const { mode, overwrite } = one;
      return files.create(path, Buffer.from(one.content), { mode, overwrite, parents: true }, requester);
    }
    if (one.kind === "store")
      return files.store(path, inPieces(one.content), { mode: undefined, parents: true }, requester);
    if (one.kind === "update") return files.update(path, () => Buffer.from(one.content), requester);
    if (one.kind === "remove") return files.remove(path, { recursive: one.recursive }, requester);
    if (one.kind === "make-folder")
      return files.makeFolder(path, { mode: one.mode, parents: true }, requester);
    if (one.kind === "change-mode") {
      const { mode, recursive } = one;
      return files.changeMode(path, { mode, recursive, uid: undefined, gid: undefined }, requester);
    }
    const { to, overwrite } = one;
    if (one.kind === "rename") return files.rename({ from: path, to, overwrite }, requester);
    return files[one.kind]({ from: path, to, overwrite, parents: true }, requester);
  };
  try {
    await act();
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

test("1,000 random mutations, undone and redone", async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1000, maxLength: 1000 }), async (mutations) => {
      using at = new JournalFixture("descriptors", start);
      const before = at.bench.snapshot();
      for (const one of mutations) if (await isMade(at, one)) made++;
      const after = at.bench.snapshot();
      expect(at.bench.listenerErrors).toEqual([]);
      const undone = await at.undo({ records: at.read() });
      expect(undone.conflicts).toEqual([]);
      expect(undone.undone.flatMap(({ skipped }) => skipped)).toEqual([]);
      expect(compareSnapshots(at.bench.snapshot(), before)).toEqual([]);
      const redone = await at.undo();
      expect(redone.conflicts).toEqual([]);
      expect(compareSnapshots(at.bench.snapshot(), after)).toEqual([]);
      expect(at.logLines).toEqual([]);
    }),
    { numRuns: 2, endOnFailure: true },
  );
  expect(made).toBeGreaterThan(500);
});

test("one record after the other, each way", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 40 }), async (mutations) => {
      using at = new JournalFixture("descriptors", start);
      const before = at.bench.snapshot();
      for (const one of mutations) await isMade(at, one);
      for (const record of at.read()) expect((await at.undo({ records: [record] })).conflicts).toEqual([]);
      expect(compareSnapshots(at.bench.snapshot(), before)).toEqual([]);
    }),
    { numRuns: 50 },
  );
});
