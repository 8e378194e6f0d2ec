/**
 * Tests that the answer and the changes of a call with a scope do not depend on entries outside, and that it
 * changes none of those.
 */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { addToTree, compareSnapshots, type Snapshot, snapshotTree } from "../../tests/harness/tree.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { compatible } from "../filesystem/jail/jail.test-kit.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const log = createLog({ level: "error", form: "text", write: () => undefined });

const name = fc.constantFrom("a", "b", "c");
const step = fc.oneof({ weight: 3, arbitrary: name }, fc.constantFrom("..", "."));
const path = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => steps.join("/"));
const target = fc.oneof(
  path,
  path.map((one) => `<base>/${one}`),
);
const inner = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const thing = fc.oneof(
  fc.constant("needle\n"),
  target.map((link) => ({ link })),
);
const things = fc.array(fc.tuple(inner, thing), { maxLength: 8 });

const on = (id: string, payloadOf: (one: string, other: string) => object) =>
  fc.tuple(path, path).map(([one, other]) => ({ id: `coder::${id}`, payload: payloadOf(one, other) }));

const entry = (one: string, other: string) => ({ from: one, to: other, overwrite: true });

const call = fc.oneof(
  on("read-file", (one, other) => ({ paths: [one, other] })),
  on("list-folder", (one) => ({ path: one })),
  on("tree", (one) => ({ path: one, respect_gitignore: false })),
  on("search", (one) => ({ path: one, query: "needle", respect_gitignore: false })),
  on("search", () => ({ query: "needle" })),
  on("create-file", (one) => ({ files: [{ path: one, content: "needle", overwrite: true }] })),
  on("update-file", (one) => ({ files: [{ path: one, ops: [{ op: "insert", at_line: 1, content: "x" }] }] })),
  on("delete-file", (one) => ({ paths: [one], recursive: true })),
  on("move", (one, other) => ({ files: [entry(one, other)] })),
  on("copy", (one, other) => ({ files: [entry(one, other)] })),
  on("make-folder", (one) => ({ paths: [one] })),
  on("transact", (one, other) => ({
    changes: [
      { op: "copy", ...entry(one, other) },
      { op: "create", path: one, content: "y", overwrite: true },
      { op: "delete", path: other, recursive: true },
    ],
  })),
  on("apply-patch", (one, other) => ({
    patch: `*** Begin Patch\n*** Update File: ${one}\n*** Move to: ${other}\n@@\n-needle\n+x\n*** End Patch\n`,
  })),
);

const undo = fc.oneof(
  on("undo", () => ({})),
  on("undo", (one) => ({ paths: [one], force: true })),
  on("undo", () => ({ steps: 2, force: true })),
  on("checkpoints", () => ({ limit: 5 })),
  on("checkpoints", (one) => ({ limit: 5, path: one })),
);

const scope = fc.constantFrom(
  { root: "in" },
  { root: "in", boundary: "in", grants: [{ path: "in", read_only: true }, { path: "in/a" }] },
  { root: "in", grants: [{ path: "in/b" }, { path: "in/c", read_only: true }] },
);

const outsideOf = (base: string): Snapshot =>
  new Map([...snapshotTree(dirname(base))].filter(([one]) => !/^in(\/|$)|^\.\.\//.test(one)));

/** Returns the value without times, sizes, and random names of transactions. */
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, one) =>
      ["mtime", "transaction", "size", "ts"].includes(key) && typeof one !== "object" ? 0 : one,
    ),
  );

async function open(root: string, name: string) {
  const base = join(root, name, "base");
  mkdirSync(join(base, "in"), { recursive: true });
  const environment = { XDG_STATE_HOME: join(root, name, "state") };
  const journal = { max_bytes: 64 * 1024 * 1024, max_records: 500 };
  const runtime = await openCoder({ ...defaultConfig(), base_path: base, journal }, { environment, log });
  const invoke = createInvoke(runtime, log);
  return {
    base,
    async call(id: string, payload: object) {
      const outcome = await invoke(functions.find((one) => one.id === id)!, payload);
      return comparable("error" in outcome ? outcome.error : outcome.answer);
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

test("over all functions that take one", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  {
    await using full = await open(root, "full");
    await using bare = await open(root, "bare");
    await fc.assert(
      fc.asyncProperty(
        things,
        things,
        scope,
        fc.array(fc.oneof({ weight: 3, arbitrary: call }, undo), { minLength: 1, maxLength: 6 }),
        async (inside, outside, fs_scope, calls) => {
          for (const { base } of [full, bare]) {
            for (const one of ["in", "a", "b", "c"])
              rmSync(join(base, one), { recursive: true, force: true });
            mkdirSync(join(base, "in"));
            for (const [one, what] of compatible(inside)) addToTree(base, { [`in/${one}`]: what });
          }
          for (const [one, what] of compatible(outside)) addToTree(full.base, { [one]: what });
          const before = outsideOf(full.base);
          for (const { id, payload } of calls) {
            const answer = await full.call(id, { ...payload, fs_scope });
            expect({ id, payload, answer: await bare.call(id, { ...payload, fs_scope }) }).toEqual({
              id,
              payload,
              answer,
            });
          }
          expect(compareSnapshots(outsideOf(full.base), before)).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  }
  rmSync(root, { recursive: true });
});

test("a plan is carried out in the scope of its dry run", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  {
    await using worker = await open(root, "one");
    addToTree(worker.base, { "x.txt": "outside", "in/x.txt": "inside" });
    const changes = [{ op: "create", path: "x.txt", content: "new", overwrite: true }];
    const scoped = { changes, dry_run: true, fs_scope: { root: "in" } };
    const { plan } = (await worker.call("coder::transact", scoped)) as { plan: string };
    expect(await worker.call("coder::commit", { plan })).toMatchObject({ committed: true });
    const read = (path: string) => readFileSync(join(worker.base, path), "utf8");
    expect([read("x.txt"), read("in/x.txt")]).toEqual(["outside", "new"]);
  }
  rmSync(root, { recursive: true });
});
