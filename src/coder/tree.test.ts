import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countDescriptors } from "../../tests/harness/descriptors.ts";
import { createLog } from "../base/log/log.ts";
import { inOneStep } from "../base/scheduling/time-slice.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { createInvoke } from "../calls/invoke.ts";
import type { Folder } from "../filesystem/jail/folder.ts";
import { IgnoreRules } from "../search/ignore/ignore-rules.ts";
import { jsonBytes } from "../text/sizes/json-size.ts";
import { defaultConfig } from "./config.ts";
import { copy } from "./copy.ts";
import { listFolder } from "./list-folder.ts";
import { readFile } from "./read-file.ts";
import { search } from "./search.ts";
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

/** Opens a runtime on a disk that takes a millisecond for each lstat. */
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
    above: () => inOneStep(() => IgnoreRules.none),
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

describe("what the worker may not enter", () => {
  const shut = mkdtempSync(join(tmpdir(), "coder-"));
  const nobody = 65_534;
  const isRoot = process.geteuid?.() === 0;
  mkdirSync(join(shut, "only-listed/sub"), { recursive: true });
  mkdirSync(join(shut, "only-entered"));
  mkdirSync(join(shut, "open"));
  for (const folder of ["only-listed", "only-entered", "open"])
    writeFileSync(join(shut, folder, "a.txt"), "needle\n");
  for (const folder of ["only-listed", "only-listed/sub", "only-entered", "open"])
    if (isRoot) chownSync(join(shut, folder), nobody, nobody);
  chmodSync(shut, 0o755);
  chmodSync(join(shut, "only-entered"), 0o311);
  chmodSync(join(shut, "only-listed"), 0o644);

  afterAll(() => {
    for (const folder of ["only-listed", "only-entered"]) chmodSync(join(shut, folder), 0o755);
    rmSync(shut, { recursive: true });
  });

  /** Makes a call without the rights of root, since the system denies nothing to root. */
  async function callUnprivileged(definition: FunctionDefinition, request: object, profile: string) {
    const opened = await openCoder({
      ...defaultConfig(),
      base_path: shut,
      profile: profile as "agent",
      journal: null,
    });
    try {
      if (isRoot) process.seteuid?.(nobody);
      return await createInvoke(opened, log)(definition, request);
    } finally {
      if (isRoot) process.seteuid?.(0);
      await opened.close();
    }
  }

  test.each(["contract", "agent"])(
    "is marked in a tree of the profile %s, and the rest is shown",
    async (profile) => {
      for (const request of [{}, { max_nodes: 100 }, { max_bytes: 1000 }]) {
        const outcome = await callUnprivileged(tree, request, profile);
        expect(outcome).toMatchObject({
          answer: {
            root: {
              children: [
                { name: "only-entered", truncated: { reason: "io_error" } },
                { name: "only-listed", truncated: { reason: "io_error", shown: 0 } },
                { name: "open", children: [{ name: "a.txt", size: 7 }] },
              ],
            },
          },
        });
      }
    },
  );

  test("is counted by a search, which goes on", async () => {
    const outcome = await callUnprivileged(search, { query: "needle" }, "agent");
    expect(outcome).toMatchObject({
      answer: { content_matches: [{ path: "open/a.txt" }], skipped: { unreadable: 3 } },
    });
  });

  test("is refused by name where the call is about it", async () => {
    for (const [definition, request] of [
      [tree, { path: "only-listed" }],
      [listFolder, { path: "only-listed" }],
      [listFolder, { path: "only-entered" }],
    ] as const)
      expect(await callUnprivileged(definition, request, "agent")).toMatchObject({
        error: expect.stringMatching(/"C216".*only-/),
      });
    const copied = await callUnprivileged(copy, { files: [{ from: "only-listed", to: "copied" }] }, "agent");
    expect(JSON.stringify(copied)).toContain("C216");
    expect(existsSync(join(shut, "copied"))).toBe(false);
  });
});
