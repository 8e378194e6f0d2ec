/** Large, deeply nested and poisoned payloads, in this process and over the bus. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createLog } from "../../src/base/log/log.ts";
import { createInvoke } from "../../src/calls/invoke.ts";
import { functions } from "../../src/coder/functions.ts";
import { type CoderRuntime, openCoder } from "../../src/coder/services.ts";
import { buildTree, compareSnapshots, snapshotTree } from "../harness/tree.ts";
import { startWorker, temporaryFolder } from "../harness/worker-fixture.ts";
import { codesOf, type DriverOutcome, outcomeFaults } from "./driver-fixture.ts";
import { configOf } from "./settings.ts";

const mebibyte = 1024 * 1024;
const create = (content: string, path = "new.txt") => ({ files: [{ path, content }] });
const insert = (content: string) => ({
  files: [{ path: "f.txt", ops: [{ op: "insert", at_line: 1, content }] }],
});

describe("in process", () => {
  let root: string;
  let runtime: CoderRuntime;
  let logged = "";
  let call: (functionId: string, payload: unknown) => Promise<DriverOutcome>;

  beforeAll(async () => {
    root = temporaryFolder();
    buildTree(root, { "f.txt": "f\n" });
    // A busy machine needs more than the default time to read a pattern of 64 MiB.
    const config = await configOf({ base_path: join(root, "base"), call_timeout_ms: 100_000 });
    runtime = await openCoder(config, { environment: process.env });
    const log = createLog({
      level: "error",
      form: "json",
      write: (line) => {
        logged += line;
      },
    });
    const invoke = createInvoke(runtime, log);
    call = (functionId, payload) => invoke(functions.find(({ id }) => id === functionId)!, payload);
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(root, { recursive: true });
    expect(logged).toBe("");
  });

  /** Expects a call to be refused with one of these codes, and to change nothing. */
  async function expectRefused(
    functionId: string,
    payload: unknown,
    codes: readonly string[],
  ): Promise<void> {
    const before = snapshotTree(root);
    const outcome = await call(functionId, payload);
    expect(codes).toContain(codesOf(outcome)[0]!);
    expect((outcome.error ?? "").length).toBeLessThan(2000);
    expect(compareSnapshots(snapshotTree(root), before)).toEqual([]);
  }

  const large = "a".repeat(64 * mebibyte);
  const largePayloads: Readonly<Record<string, readonly [string, unknown, string]>> = {
    "content of a new file": ["coder::create-file", create(large), "C213"],
    "content of an op": ["coder::update-file", insert(large), "C213"],
    "a path to read": ["coder::read-file", { path: large }, "C210"],
    "a path to list": ["coder::list-folder", { path: large }, "C210"],
    "a path for a tree": ["coder::tree", { path: large }, "C210"],
    "a pattern": ["coder::search", { query: large, regex: true }, "C210"],
    "a glob": ["coder::search", { query: "a", include_globs: [large] }, "C210"],
    "a mode": ["coder::create-file", { files: [{ path: "new.txt", content: "", mode: large }] }, "C210"],
    "a field of another type": ["coder::read-file", { path: [large] }, "C210"],
  };

  test.each(Object.entries(largePayloads))("64 MiB in %s", (_, [functionId, payload, code]) =>
    expectRefused(functionId, payload, [code]),
  );

  test("64 MiB of path in a batch are not sent back", async () => {
    for (const [functionId, payload] of [
      ["coder::delete-file", { paths: [large] }],
      ["coder::create-file", create("x", large)],
    ] as const)
      expect(codesOf(await call(functionId, payload))).toEqual(["C213"]);
  });

  test("a query of 64 MiB is in no file", async () => {
    const outcome = await call("coder::search", { query: large });
    expect(outcome).toMatchObject({ answer: { content_matches: [], path_matches: [], truncated: false } });
  });

  test("a long pattern is refused with its length", async () => {
    const query = "a".repeat(8_000_000);
    for (const fields of [{ regex: true }, { ignore_case: true }]) {
      const { error } = await call("coder::search", { query, ...fields });
      expect(error).toContain("it has 8000000 characters and may have at most 32768");
    }
  });

  const deep = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels));
  const deepObject = (levels: number) => JSON.parse(`${'{"path":'.repeat(levels)}1${"}".repeat(levels)}`);

  test.each([
    ["coder::read-file", { path: deep(100_000) }],
    ["coder::read-file", deepObject(100_000)],
    ["coder::create-file", { files: deep(100_000) }],
    ["coder::update-file", { files: [{ path: "f.txt", ops: deep(100_000) }] }],
    ["coder::delete-file", deep(100_000)],
  ])("JSON nested 100,000 deep for %s", (functionId, payload) =>
    expectRefused(functionId, payload, ["C210"]),
  );

  test("1,000,000 ops that overlap, and 100,000 paths", async () => {
    const ops = Array.from({ length: 1_000_000 }, () => ({ op: "insert", at_line: 1, content: "x" }));
    await expectRefused("coder::update-file", { files: [{ path: "f.txt", ops }] }, ["C210"]);
    const paths = Array.from({ length: 100_000 }, () => "");
    await expectRefused("coder::delete-file", { paths }, ["C213"]);
  });

  test("a field nobody asked for may be nested 100,000 deep", async () => {
    expect(await call("coder::read-file", { path: "f.txt", extra: deep(100_000) })).toMatchObject({
      answer: { content: "f\n" },
    });
  });

  test("keys of prototypes are keys like any other that nobody asked for", async () => {
    const poison =
      '"__proto__":{"overwrite":true,"mode":"0777"},"constructor":{"prototype":{"overwrite":true}}';
    const payload = JSON.parse(`{"files":[{"path":"f.txt","content":"x",${poison}}],${poison}}`);
    expect(codesOf(await call("coder::create-file", payload))).toEqual(["C217"]);
    expect(({} as { overwrite?: boolean }).overwrite).toBeUndefined();
    for (const op of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      const ops = [{ op, at_line: 1, content: "x" }];
      await expectRefused("coder::update-file", { files: [{ path: "f.txt", ops }] }, ["C210"]);
    }
    await expectRefused("coder::read-file", JSON.parse('{"__proto__":{"path":"f.txt"}}'), ["C210"]);
  });
});

test("15.9 MiB over the bus, there and back", async () => {
  const served = await startWorker("source", {
    max_write_bytes: 32 * mebibyte,
    max_read_bytes: 32 * mebibyte,
  });
  try {
    served.build({ "f.txt": "f\n" });
    const content = "0123456789abcde\n".repeat(Math.floor((15.9 * mebibyte) / 17));
    const created = await served.engine.call("coder::create-file", create(content));
    expect(created).toMatchObject({ results: [{ success: true, bytes_written: content.length }] });
    const [read, small] = await Promise.all([
      served.engine.call("coder::read-file", { path: "new.txt" }),
      served.engine.call("coder::read-file", { path: "f.txt" }),
    ]);
    expect((read as { content: string }).content === content).toBe(true);
    expect(small).toMatchObject({ content: "f\n" });
    const inserted = (await served.engine.call(
      "coder::update-file",
      insert(content),
    )) as DriverOutcome["answer"];
    const payload = insert("");
    expect(
      outcomeFaults({ answer: inserted }, { functionId: "coder::update-file", payload, root: served.root }),
    ).toEqual([]);
    expect(inserted).toMatchObject({ results: [{ success: true }] });
  } finally {
    await served.stop();
  }
});
