import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import type { ReportedChange } from "../../calls/contract/tree-changes.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { defaultConfig } from "../config.ts";
import { createFile } from "../create-file.ts";
import { type CoderRuntime, openCoder } from "../services.ts";

const lines: string[] = [];
const log = createLog({ level: "error", form: "text", write: (line) => lines.push(line) });
const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
let runtime: CoderRuntime | undefined;

afterEach(async () => {
  await runtime?.close();
  rmSync(base, { recursive: true });
});

test("readers get changes of calls, and of other programs from when one has the tree watched", async () => {
  runtime = await openCoder({ ...defaultConfig(), base_path: base }, { log });
  const invoke = createInvoke(runtime, log);
  const create = (path: string) => invoke(createFile, { files: [{ path, content: "" }] });
  const changes = runtime.treeChanges!;
  const got: ReportedChange[] = [];
  let arrived = () => {};
  const until = async (path: string) => {
    while (!got.some((change) => change.path === path))
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    return got.splice(0).map(({ kind, path: own, seq }) => [seq, kind, own]);
  };
  await create("before");
  const end = changes.open((change) => {
    got.push(change);
    arrived();
  });
  writeFileSync(join(base, "unseen"), "");
  await create("a");
  expect(await until("a")).toEqual([[1, "created", "a"]]);
  expect(await changes.watch()).toBe(1);
  writeFileSync(join(base, "b"), "");
  await create("c");
  expect(await until("c")).toEqual([
    [2, "created", "b"],
    [3, "created", "c"],
  ]);
  const first = Promise.withResolvers<string>();
  const endOther = changes.open(({ path }) => first.resolve(path));
  end();
  await create("d");
  expect(await first.promise).toBe("d");
  expect(got).toEqual([]);
  endOther();
  expect(lines).toEqual([]);
});
