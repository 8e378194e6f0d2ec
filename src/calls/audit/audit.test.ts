/** Tests the audit trail of calls to `coder::*`. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import { defaultConfig } from "../../coder/config.ts";
import { functions } from "../../coder/functions.ts";
import { type CoderRuntime, openCoder } from "../../coder/services.ts";
import { Mutations } from "../../filesystem/disk/mutations.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import type { CallStatus } from "../contract/call-status.ts";
import type { Context } from "../contract/definition.ts";
import { createInvoke, type Invoke } from "../invoke.ts";
import { Audit } from "./audit.ts";
import { hashOfLine } from "./audit-file.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-audit-")));
const base = join(root, "base");
const file = join(root, "audit.jsonl");
const revision = (text: string) => revisionOfBytes([Buffer.from(text)]);
const log = createLog({ level: "error", form: "text", write: () => {} });

let runtime: CoderRuntime;
let invoke: Invoke;

const configured = (audit: object) => ({
  ...defaultConfig(),
  base_path: base,
  audit: { file, max_bytes: 1_000_000, keep: 1, ...audit },
});

beforeAll(async () => {
  mkdirSync(base);
  writeFileSync(join(base, "a"), "old secret\n");
  writeFileSync(join(base, ".env"), "secret");
  runtime = await openCoder(configured({}), { environment: { XDG_STATE_HOME: root } });
  invoke = createInvoke(runtime, log);
});

afterAll(async () => {
  await runtime.close();
  rmSync(root, { recursive: true });
});

interface Line {
  readonly [field: string]: unknown;
}

const lines = (): Line[] =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

async function lineOf(id: string, payload: unknown): Promise<Line> {
  const definition = functions.find((candidate) => candidate.id === id)!;
  await invoke(definition, payload, { caller: "worker-7" });
  const { time, ms, previous, ...line } = lines().at(-1)!;
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(ms).toBeNumber();
  expect(previous).toMatch(/^sha256:[0-9a-f]{64}$/);
  return line;
}

const ok = { caller: "worker-7", outcome: "ok" };

test("a call that reads has its paths", async () => {
  expect(await lineOf("coder::read-file", { paths: ["a", ".env", "a"] })).toEqual({
    function: "coder::read-file",
    paths: ["a", ".env"],
    ...ok,
    code: "C211",
    failed: 1,
  });
});

test("a change has its revisions, and no contents", async () => {
  const ops = [{ op: "replace", pattern: "old secret", replacement: "new secret" }];
  const before = revision("old secret\n");
  expect(await lineOf("coder::update-file", { files: [{ path: "a", ops }] })).toEqual({
    function: "coder::update-file",
    paths: ["a"],
    ...ok,
    changes: [{ kind: "replace", path: "a", before, after: revision("new secret\n") }],
  });
  expect(readFileSync(file, "utf8")).not.toContain("secret");
});

test("a file of which a step hashes no more than 32 MiB is hashed ahead, whichever step it is", async () => {
  const path = join(base, "large");
  writeFileSync(path, "");
  truncateSync(path, 33 * 1024 * 1024);
  const before = revisionOfBytes([readFileSync(path)]);
  for (const [id, payload, change] of [
    [
      "coder::move",
      { files: [{ from: "large", to: "moved" }] },
      { kind: "rename", from: "large", path: "moved" },
    ],
    ["coder::delete-file", { paths: ["moved"] }, { kind: "remove", path: "moved" }],
  ] as const)
    expect((await lineOf(id, payload))["changes"]).toEqual([{ ...change, before }]);
});

test("a refused call has its code", async () => {
  expect(await lineOf("coder::read-file", { path: ".env" })).toEqual({
    function: "coder::read-file",
    caller: "worker-7",
    paths: [".env"],
    outcome: "error",
    code: "C211",
  });
  expect(await lineOf("coder::read-file", { path: 7 })).toMatchObject({ paths: [], code: "C210" });
});

test("a transaction names itself in each change", async () => {
  const changes = [
    { op: "create", path: "d/n", content: "n", parents: true },
    { op: "move", from: "a", to: "d/a" },
  ];
  const line = await lineOf("coder::transact", { changes });
  const made = line["changes"] as { kind: string; path: string; transaction: string }[];
  expect(made.map(({ kind, path }) => [kind, path])).toEqual([
    ["make-folder", "d"],
    ["create", "d/n"],
    ["rename", "d/a"],
  ]);
  expect(new Set(made.map(({ transaction }) => transaction)).size).toBe(1);
  expect(made[0]!.transaction).toMatch(/^[\da-f]{16}$/);
});

test("steps that were taken back are no changes", async () => {
  const definition = functions.find(({ id }) => id === "coder::transact")!;
  const audit = runtime.audit!;
  const context = { caller: undefined } as unknown as Context;
  const mutations = new Mutations([audit]);
  const step = { path: "x", entry: "file", requester: context } as const;
  const describe = () => ({ ...step, kind: "transaction" as const, transaction: { id: "1" } });
  const whole = mutations.tree(describe, async (transaction) => {
    mutations.step(
      () => ({ ...step, kind: "create", whole: transaction }),
      () => {},
    );
    throw new Error("the disk is full");
  });
  expect(whole).rejects.toThrow("full");
  await whole.catch(() => {});
  mutations.step(
    () => ({ ...step, kind: "remove" }),
    () => {},
  );
  const status = { outcome: "ok", code: undefined, failed: undefined } as const;
  audit.onFinished({ definition, request: {}, context, status, milliseconds: 1 });
  expect(lines().at(-1)!["changes"]).toEqual([{ kind: "remove", path: "x" }]);
});

test("of very many changes it names some, and says how many more there are", async () => {
  const files = Array.from({ length: 230 }, (_, index) => ({
    path: `many/${index}`,
    content: "",
    parents: true,
  }));
  const line = await lineOf("coder::create-file", { files });
  expect(line["paths"]).toHaveLength(200);
  expect(line["more_paths"]).toBe(30);
  expect(line["changes"]).toHaveLength(200);
  expect(line["more_changes"]).toBe(31);
});

test("coder::info has the hash of the newest line", async () => {
  await lineOf("coder::read-file", { path: "gone" });
  const newest = hashOfLine(readFileSync(file, "utf8").trimEnd().split("\n").at(-1)!);
  const info = functions.find(({ id }) => id === "coder::info")!;
  expect(await invoke(info, {})).toMatchObject({ answer: { audit: { enabled: true, newest } } });
});

test("a file that calls could reach, or that cannot be made, keeps the worker from starting", async () => {
  const open = (name: string) => openCoder(configured({ file: name }), { environment: {} });
  expect(open(join(base, "audit.jsonl"))).rejects.toThrow(/lies in the folder that is served.*name another/);
  expect(open(join(root, "none/audit.jsonl"))).rejects.toThrow(/cannot be written \(ENOENT\); name a file/);
});

test("of very many paths 200 are named, and the others are counted", () => {
  const written: Line[] = [];
  const audit = new Audit(
    { newest: "", append: (fields) => void written.push(fields), close: () => {} },
    log,
  );
  const finish = (paths: readonly string[]) =>
    audit.onFinished({
      definition: functions.find(({ id }) => id === "coder::read-file")!,
      request: { paths },
      context: {} as Context,
      status: { outcome: "ok" } as CallStatus,
      milliseconds: 1,
    });
  const different = Array.from({ length: 10_000 }, (_, index) => `${index}`);
  finish(["a", "a", "b"]);
  finish([...different, ...different]);
  finish(different.flatMap((path) => [path, path]));
  expect(written.map(({ paths, more_paths }) => [(paths as string[]).length, more_paths])).toEqual([
    [2, undefined],
    [200, 19_800],
    [200, 9801],
  ]);
});
