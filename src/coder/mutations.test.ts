/** Tests that each function that writes names its requester. The types require one. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { openDisk } from "../filesystem/disk/disk.ts";
import { DiskTree } from "../filesystem/operations/disk-tree.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const runtime = await openCoder({ ...defaultConfig(), base_path: base });
const heard: unknown[] = [];
const listener = {
  before: ({ kind, path, requester }: { kind: string; path: string; requester: unknown }) => {
    const { functionId, caller } = requester as { functionId: string; caller: string };
    heard.push([kind, path, functionId, caller]);
  },
};
const disk = openDisk({ ...runtime, listeners: [listener] });
const log = createLog({ level: "error", form: "text", write: () => undefined });
const invoke = createInvoke({ ...runtime, tree: new DiskTree(disk) } as typeof runtime, log);

afterAll(async () => {
  await runtime.close();
  rmSync(base, { recursive: true });
});

const calls: Readonly<Record<string, { request: object; changes: readonly string[][] }>> = {
  "coder::create-file": {
    request: {
      files: [
        { path: "d/f", content: "a\n", parents: true },
        { path: "g", content: "" },
      ],
    },
    changes: [
      ["make-folder", "d"],
      ["create", "d/f"],
      ["create", "g"],
    ],
  },
  "coder::update-file": {
    request: { files: [{ path: "d/f", ops: [{ op: "insert", at_line: 1, content: "b\n" }] }] },
    changes: [["replace", "d/f"]],
  },
  "coder::delete-file": {
    request: { paths: ["d", "g"], recursive: true },
    changes: [
      ["remove", "d"],
      ["remove", "d/f"],
      ["remove", "d"],
      ["remove", "g"],
    ],
  },
};

test.each(Object.entries(calls))("%s", async (id, { request, changes }) => {
  const definition = functions.find((one) => one.id === id)!;
  expect(await invoke(definition, request, { caller: "worker-7" })).toHaveProperty("answer");
  expect(heard.splice(0)).toEqual(changes.map(([kind, path]) => [kind, path, id, "worker-7"]));
});
