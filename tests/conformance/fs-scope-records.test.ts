/** Checkpoints, changes and undo in calls with a scope (coder §26). */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseWireError } from "../harness/errors.ts";
import { treeOf } from "../harness/tree.ts";
import { withWorker } from "../harness/with-worker.ts";
import type { WorkerFixture } from "../harness/worker-fixture.ts";

const app = { root: "app" };
const config = { journal: {} };

// biome-ignore lint/suspicious/noExplicitAny: answers of several functions
async function answerOf({ call }: WorkerFixture, id: string, payload: object): Promise<any> {
  const { answer, error } = await call(`coder::${id}`, payload);
  if (error !== undefined) throw error;
  return answer;
}

const codeOf = async ({ call }: WorkerFixture, id: string, payload: object): Promise<string> =>
  parseWireError((await call(`coder::${id}`, payload)).error!).code;

const create = (...paths: string[]) => ({
  changes: paths.map((path) => ({ op: "create", path, content: "new" })),
});

test("checkpoints are those of the scope, and an undo takes back what is in it", async () => {
  await withWorker(
    "source",
    async (served) => {
      served.build({ "app/a": "a", "docs/d": "d" });
      await answerOf(served, "transact", create("app/one", "docs/one"));
      await answerOf(served, "move", { files: [{ from: "app/a", to: "docs/a" }] });
      await answerOf(served, "create-file", { files: [{ path: "docs/two", content: "two" }] });
      const listed = await answerOf(served, "checkpoints", { fs_scope: app });
      expect(listed.checkpoints).toMatchObject([{ seq: 1, files: [{ path: "app/one" }] }]);
      const below = await answerOf(served, "checkpoints", { fs_scope: app, path: "one" });
      expect(below.checkpoints).toHaveLength(1);
      expect(await codeOf(served, "undo", { fs_scope: app, seq: 3 })).toBe("C210");
      const readOnly = { root: "app", grants: [{ path: "app", read_only: true }] };
      expect(await codeOf(served, "undo", { fs_scope: readOnly })).toBe("C220");
      const undone = await answerOf(served, "undo", { fs_scope: app, paths: ["one"] });
      expect(undone.undone).toMatchObject([{ seq: 1, removed: ["app/one"], skipped: [] }]);
      expect(treeOf(served.snapshot())).toEqual({
        ...{ "app/": null, "docs/": null },
        ...{ "docs/a": "a", "docs/d": "d", "docs/one": "new", "docs/two": "two" },
      });
      await answerOf(served, "undo", { fs_scope: app });
      expect(treeOf(served.snapshot())).toHaveProperty(["app/one"], "new");
      expect(await codeOf(served, "undo", { fs_scope: { root: "app", grants: [{ path: "app/x" }] } })).toBe(
        "C210",
      );
    },
    { config },
  );
});

test("changes are those of the scope, over whose border things come and go", async () => {
  await withWorker("source", async (served) => {
    served.build({ "app/in/a": "a", "docs/d": "d" });
    const scoped = { fs_scope: { root: "app/in" } };
    let { next: since } = await answerOf(served, "changes", scoped);
    const news = async (more: object = {}) => {
      const answer = await answerOf(served, "changes", { ...scoped, since, ...more });
      since = answer.next;
      return answer.changes.map(({ kind, path }: { kind: string; path: string }) => `${kind} ${path}`);
    };
    await answerOf(served, "transact", create("app/in/one", "app/two", "docs/one"));
    expect(await news()).toEqual(["created app/in/one"]);
    await answerOf(served, "move", { files: [{ from: "app/in/one", to: "docs/three" }] });
    await answerOf(served, "move", { files: [{ from: "docs/d", to: "app/in/d" }] });
    expect(await news()).toEqual(["deleted app/in/one", "created app/in/d"]);
    writeFileSync(join(served.base, "app/in/a"), "other");
    writeFileSync(join(served.base, "docs/three"), "other");
    expect(await news({ path: "a" })).toEqual(["modified app/in/a"]);
    await answerOf(served, "move", { files: [{ from: "app", to: "elsewhere" }] });
    expect(await news({ fs_scope: { grants: [{ path: "app/in" }] } })).toEqual(["deleted app"]);
  });
});

test("a checkpoint lists what an undo in the scope would take back, and counts nothing else", async () => {
  await withWorker(
    "source",
    async (served) => {
      served.build({ "app/a": "a", "docs/b": "b", "docs/c": "c", "docs/large": "large".repeat(1000) });
      const transact = (...changes: object[]) => answerOf(served, "transact", { changes });
      const newest = async (more: object = { fs_scope: app }) => {
        const { checkpoints } = await answerOf(served, "checkpoints", { limit: 1, ...more });
        return checkpoints[0];
      };
      await transact({ op: "move", from: "docs/b", to: "app/b" }, { op: "delete", path: "app/b" });
      expect(await newest()).toMatchObject({ seq: 1, files: [{ path: "app/b", change: "deleted" }] });
      await transact({ op: "delete", path: "app/a" }, { op: "move", from: "docs/c", to: "app/a" });
      expect(await newest()).toMatchObject({ seq: 2, files: [{ path: "app/a", change: "deleted" }] });
      await transact({ op: "create", path: "app/d", content: "d" });
      const alone = await newest();
      expect(alone.bytes).toBe((await newest({})).bytes);
      await transact({ op: "create", path: "app/e", content: "d" }, { op: "delete", path: "docs/large" });
      expect((await newest()).bytes).toBe(alone.bytes);
    },
    { config },
  );
});

test("whether a change is ignored does not depend on the scope", async () => {
  await withWorker("source", async (served) => {
    const ignoring = { ".gitignore": "*.log\n", "app/.gitignore": "*.tmp\n", "app/in/.gitignore": "*.bak\n" };
    served.build(ignoring);
    const { next: since } = await answerOf(served, "changes", {});
    await answerOf(served, "transact", create("app/in/a.log", "app/in/a.tmp", "app/in/a.bak", "app/in/a"));
    const { changes } = await answerOf(served, "changes", { since });
    expect(changes.map(({ ignored }: { ignored: boolean }) => ignored)).toEqual([true, true, true, false]);
    for (const fs_scope of [app, { root: "app/in" }, { grants: [{ path: "app/in" }] }])
      expect((await answerOf(served, "changes", { since, fs_scope })).changes).toEqual(changes);
  });
});
