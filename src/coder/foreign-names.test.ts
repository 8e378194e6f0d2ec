/**
 * Tests changes on a file system that finds entries under further names, such as vfat and any file system of
 * FUSE.
 */
import { afterEach, expect, spyOn, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { snapshotTree, treeOf } from "../../tests/harness/tree.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import * as folding from "../filesystem/jail/name-comparison.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const base = join(root, "base");
const log = createLog({ level: "error", form: "text", write: () => undefined });

const naming = spyOn(folding, "namingOfBase").mockReturnValue({ folding: "foreign", isFlagged: false });
afterEach(() => {
  naming.mockRestore();
  rmSync(root, { recursive: true });
});

const tree = () => treeOf(new Map([...snapshotTree(root)].filter(([key]) => !key.startsWith("../"))));

test("what a transaction makes, copies and moves is changed by its later changes, and undone", async () => {
  for (const path of ["a/b/c.txt", "a/x.txt", "d.txt"]) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), `${path}\n`);
  }
  const before = tree();
  const journal = { dir: join(root, "state"), max_bytes: 2 ** 26, max_records: 500 };
  const config = { ...defaultConfig(), base_path: base, fsync: false, journal, index: "off" as const };
  const runtime = await openCoder(config, { environment: {} });
  const invoke = createInvoke(runtime, log);
  const call = async (id: string, payload: object) =>
    await invoke(functions.find((one) => one.id === id)!, payload);
  const edit = [{ op: "insert", at_line: 1, content: "new" }];
  const changes = [
    { op: "make-folder", path: "new" },
    { op: "make-folder", path: "new/deep" },
    { op: "create", path: "new/deep/file", content: "1\n" },
    { op: "update", path: "new/deep/file", ops: edit },
    { op: "copy", from: "a", to: "copy" },
    { op: "update", path: "copy/b/c.txt", ops: edit },
    { op: "create", path: "copy/b/more", content: "2\n" },
    { op: "delete", path: "copy/x.txt" },
    { op: "move", from: "a", to: "new/a" },
    { op: "create", path: "new/a/b/more", content: "3\n" },
  ];
  expect(await call("coder::transact", { changes })).toMatchObject({ answer: { committed: true } });
  const isFile = ([path]: readonly [string, unknown]) => !path.endsWith("/");
  expect(Object.fromEntries(Object.entries(tree()).filter(isFile))).toEqual({
    ...{ "new/deep/file": "new\n1\n", "copy/b/c.txt": "new\na/b/c.txt\n", "copy/b/more": "2\n" },
    ...{
      "new/a/b/c.txt": "a/b/c.txt\n",
      "new/a/x.txt": "a/x.txt\n",
      "new/a/b/more": "3\n",
      "d.txt": "d.txt\n",
    },
  });
  expect(await call("coder::undo", {})).toMatchObject({ answer: { conflicts: [] } });
  expect(tree()).toEqual(before);
  expect(await call("coder::delete-file", { paths: ["a"], recursive: true })).toMatchObject({
    answer: { results: [{ removed: true }] },
  });
  expect(await call("coder::undo", {})).toMatchObject({ answer: { conflicts: [] } });
  expect(tree()).toEqual(before);
  await runtime.close();
});
