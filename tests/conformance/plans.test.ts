/** Dry runs, and the plans in their answers. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseWireError } from "../harness/errors.ts";
import { treeOf } from "../harness/tree.ts";
import { withWorker } from "../harness/with-worker.ts";
import { callThrough, connectClient, type WorkerFixture } from "../harness/worker-fixture.ts";

const edit = { op: "update", path: "a", ops: [{ op: "str_replace", old_str: "one", new_str: "two" }] };
const changes = [edit, { op: "move", from: "a", to: "s/b" }, { op: "create", path: "c", content: "c\n" }];

/** Makes a dry run of the changes, and returns its answer. */
async function tryChanges({ call }: WorkerFixture, list: readonly object[] = changes) {
  const { answer } = await call("coder::transact", { changes: list, dry_run: true });
  return answer as { plan: string; results: unknown[] };
}

async function codeOf({ call }: WorkerFixture, plan: string): Promise<string> {
  const { answer, error } = await call("coder::commit", { plan });
  return error === undefined ? JSON.stringify(answer) : parseWireError(error).code;
}

test("a plan is carried out once, as it was shown", async () => {
  await withWorker("source", async (served) => {
    served.build({ a: "one\n" });
    const before = served.snapshot();
    const { plan, results } = await tryChanges(served);
    expect(served.snapshot()).toEqual(before);
    const { answer } = await served.call("coder::commit", { plan });
    expect(answer).toEqual({ committed: true, transaction: expect.any(String), results });
    expect(treeOf(served.snapshot())).toEqual({ "s/": null, "s/b": "two\n", c: "c\n" });
    expect(await codeOf(served, plan)).toBe("C221");
  });
});

test("the plan of a patch is carried out as it was shown, and not on another file", async () => {
  await withWorker("source", async (served) => {
    served.build({ a: "one\n" });
    const patch = "*** Begin Patch\n*** Update File: a\n-one\n+two\n*** Add File: s/b\n+b\n*** End Patch\n";
    const { answer } = await served.call("coder::apply-patch", { patch, dry_run: true });
    const { plan, results } = answer as { plan: string; results: unknown[] };
    writeFileSync(join(served.base, "a"), "one\nmore\n");
    expect(await codeOf(served, plan)).toBe("C221");
    writeFileSync(join(served.base, "a"), "one\n");
    const done = await served.call("coder::commit", { plan });
    expect(done.answer).toEqual({ committed: true, transaction: expect.any(String), results });
    expect(treeOf(served.snapshot())).toEqual({ a: "two\n", "s/": null, "s/b": "b\n" });
  });
});

test("a plan is worthless when one of the files is another, and good again when it is back", async () => {
  await withWorker("source", async (served) => {
    served.build({ a: "one\n" });
    const { plan } = await tryChanges(served);
    writeFileSync(join(served.base, "a"), "one, and more\n");
    const { error } = await served.call("coder::commit", { plan });
    expect(parseWireError(error!)).toMatchObject({ code: "C221", details: { paths: ["a"] } });
    writeFileSync(join(served.base, "a"), "one\n");
    expect(await codeOf(served, plan)).toContain("committed");
  });
});

test.each([
  ["something is in the way by now", { a: "one\n" }, { "s/b": "new" }],
  ["a file is gone", { a: "one\n", "other/x": "x" }, { a: undefined }],
  ["a folder that is to go holds more by now", { a: "one\n", "d/x": "x" }, { "d/y": "y" }],
])("a plan is worthless when %s", async (_, tree, later: Readonly<Record<string, string | undefined>>) => {
  await withWorker("source", async (served) => {
    served.build(tree);
    const more = "d/x" in tree ? [{ op: "delete", path: "d", recursive: true }] : [];
    const { plan } = await tryChanges(served, [...changes, ...more]);
    const kept = Object.fromEntries(
      Object.entries({ ...tree, ...later }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    );
    served.build(kept);
    const before = served.snapshot();
    expect(await codeOf(served, plan)).toBe("C221");
    expect(served.snapshot()).toEqual(before);
  });
});

test("a plan is for the worker that asked for it", async () => {
  await withWorker("source", async (served) => {
    served.build({ a: "one\n" });
    const { plan } = await tryChanges(served);
    const other = connectClient(served.engine.url);
    try {
      const { error } = await callThrough(other, "coder::commit", { plan });
      expect(parseWireError(error!)).toMatchObject({
        code: "C221",
        message: expect.stringContaining("or belongs to another caller."),
      });
    } finally {
      await other.shutdown();
    }
    expect(await codeOf(served, plan)).toContain("committed");
  });
});
