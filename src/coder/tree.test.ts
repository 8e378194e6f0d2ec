import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countDescriptors } from "../../tests/harness/descriptors.ts";
import { IgnoreRules } from "../ignore/ignore-rules.ts";
import type { Folder } from "../jail/folder.ts";
import { createLog } from "../log/log.ts";
import { jsonBytes } from "../text/json-size.ts";
import { createInvoke } from "../worker/invoke.ts";
import { defaultConfig } from "./config.ts";
import { readFile } from "./read-file.ts";
import { openCoder } from "./services.ts";
import { tree } from "./tree.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
for (const folder of ["a", "b", "b/c"]) {
  mkdirSync(join(base, folder));
  for (let i = 0; i < 40; i++) writeFileSync(join(base, folder, `${i}.txt`), "");
}
writeFileSync(join(base, 'name "with" é\n'), "text");
const runtime = await openCoder({ ...defaultConfig(), base_path: base });
const log = createLog({ level: "error", form: "json", write: () => {} });

afterAll(async () => {
  await runtime.close();
  rmSync(base, { recursive: true });
});

/** A runtime on a disk that takes a millisecond for each lstat. */
const onSlowDisk = (callMilliseconds: number) => {
  const stat: typeof runtime.files.stat = (folder, entry) => {
    const end = performance.now() + 1;
    while (performance.now() < end);
    return runtime.files.stat(folder, entry);
  };
  return createInvoke(
    { ...runtime, callMilliseconds, files: { ...runtime.files, stat } } as typeof runtime,
    log,
  );
};

describe("a tree that takes long", () => {
  test("lets others be answered meanwhile", async () => {
    const invoke = onSlowDisk(25_000);
    const events: string[] = [];
    const whole = invoke(tree, {}).then((outcome) => {
      events.push("tree");
      return outcome;
    });
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      await invoke(readFile, { path: "a/1.txt" });
      events.push("read");
    }
    expect(JSON.stringify(await whole)).toContain('"b/c/39.txt"');
    expect(events).toEqual(["read", "read", "read", "tree"]);
  });

  test("ends at its deadline", async () => {
    const outcome = await onSlowDisk(20)(tree, {});
    expect(outcome).toMatchObject({ error: expect.stringContaining('"C216"') });
  });
});

const requests = [
  {},
  { max_depth: 0 },
  { max_depth: 1 },
  { path: "b", per_folder_limit: 3 },
  { max_nodes: 1 },
  { max_nodes: 4 },
  { max_nodes: 60 },
  { max_nodes: 1000 },
  { include_hidden: false },
];

test.each(requests)("the bytes of %j are counted as it grows", async (request) => {
  const outcome = await createInvoke(runtime, log)(tree, request);
  if ("error" in outcome) throw new Error(outcome.error);
  expect(outcome.bytes).toBe(jsonBytes(outcome.answer));
  expect(outcome.bytes).toBe(Buffer.byteLength(JSON.stringify(outcome.answer)));
});

test("a folder whose ignore files cannot be opened for lack of descriptors is closed", async () => {
  const ignoreFiles = {
    above: () => IgnoreRules.none,
    in(folder: Folder) {
      if (folder.path === "b/c") throw Object.assign(new Error("EMFILE"), { code: "EMFILE" });
      return IgnoreRules.none;
    },
  };
  const invoke = createInvoke({ ...runtime, ignoreFiles } as unknown as typeof runtime, log);
  const before = await countDescriptors();
  for (let i = 0; i < 3; i++) expect(await invoke(tree, { respect_gitignore: true })).toHaveProperty("error");
  expect(await countDescriptors(before)).toBe(before);
});
