import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { createLog } from "../../base/log/log.ts";
import type { ReportedChange } from "../../calls/contract/tree-changes.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { defaultConfig } from "../config.ts";
import { createFile } from "../create-file.ts";
import { type CoderRuntime, openCoder } from "../services.ts";

const lines: string[] = [];
const log = createLog({ level: "error", form: "text", write: (line) => lines.push(line) });
let base = "";
let runtime: CoderRuntime | undefined;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
});
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

test("between two readers that take long, others run, and one that ends in between gets nothing", async () => {
  runtime = await openCoder({ ...defaultConfig(), base_path: base }, { log });
  const invoke = createInvoke(runtime, log);
  const ends: (() => void)[] = [];
  const readers = 5;
  let reports = 0;
  const report = () => {
    const end = performance.now() + 3;
    while (performance.now() < end);
    reports++;
    if (reports === readers) ends.at(-1)!();
  };
  for (let reader = 0; reader <= readers; reader++) ends.push(runtime.treeChanges!.open(report));
  await invoke(createFile, { files: [{ path: "a", content: "" }] });
  const seen = new Set<number>();
  for (; reports < readers; seen.add(reports)) await setImmediate();
  for (let count = 1; count < readers; count++) expect(seen).toContain(count);
  await invoke(createFile, { files: [{ path: "b", content: "" }] });
  while (reports < 2 * readers) await setImmediate();
  for (const end of ends) end();
  expect(reports).toBe(2 * readers);
});
