import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { createLog } from "../../base/log/log.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { wordingFor } from "../../calls/contract/wording.ts";
import { createInvoke } from "../../calls/invoke.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { defaultConfig } from "../config.ts";
import { openCoder } from "../services.ts";
import { tree } from "../tree.ts";
import { BytePlan } from "./byte-plan.ts";
import { TreeFilter } from "./filter.ts";
import type { TreeSnapshot } from "./snapshot.ts";
import { renderTree } from "./text.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const runtime = await openCoder({ ...defaultConfig(), base_path: base, tree_default_depth: 60 });
const invoke = createInvoke(runtime, createLog({ level: "error", form: "json", write: () => {} }));

afterAll(async () => {
  await runtime.close();
  rmSync(base, { recursive: true });
});

const wording = wordingFor((id) => id);

let folders = 0;

/** Makes a new folder with these files, and returns its name. */
function fill(files: Iterable<string>): string {
  const name = `${++folders}`;
  mkdirSync(join(base, name));
  for (const file of files) {
    mkdirSync(dirname(join(base, name, file)), { recursive: true });
    writeFileSync(join(base, name, file), "");
  }
  return name;
}

interface Node {
  readonly name: string;
  readonly kind: "file" | "dir";
  readonly non_accessible: boolean;
  readonly children?: readonly Node[];
  readonly truncated?: { readonly reason: string; readonly shown: number; readonly total?: number };
}

async function show(path: string, request: object = {}): Promise<{ root: Node; lines: string[] }> {
  const outcome = await invoke(tree, { path, per_folder_limit: 1000, ...request });
  if ("error" in outcome) throw new Error(outcome.error);
  const { root } = outcome.answer as { root: Node };
  const text = runAtOnce(renderTree(root, 0, wording));
  return { root, lines: text.split("\n").filter((line) => !line.startsWith("[")) };
}

const bytesOf = (lines: readonly string[]) => Buffer.byteLength(lines.map((line) => `${line}\n`).join(""));

/** Returns the number of shown entries of each level. */
function countLevels(nodes: readonly Node[], counts: number[] = [], depth = 0): number[] {
  for (const { children = [] } of nodes) {
    if (children.length === 0) continue;
    counts[depth] = (counts[depth] ?? 0) + children.length;
    countLevels(children, counts, depth + 1);
  }
  return counts;
}

const name = fc.constantFrom("a", "bb", "ccc.txt", "é", "d: 1", "long".repeat(10));
const file = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => [...names, "f"].join("/"));

test("never more bytes than max_bytes, and everything where that fits", async () => {
  const trees = fc.array(file, { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(trees, fc.integer({ min: 0, max: 1500 }), async (files, maxBytes) => {
      const path = fill(files);
      const whole = await show(path);
      const cut = await show(path, { max_bytes: maxBytes });
      expect(bytesOf(cut.lines)).toBeLessThanOrEqual(Math.max(maxBytes, bytesOf([`${path}/ …`])));
      for (const line of cut.lines) if (!line.includes("…")) expect(whole.lines).toContain(line);
      // The plan reserves the maximum bytes that a line may need besides its name.
      const reserved = whole.lines.length * 40;
      if (bytesOf(whole.lines) + reserved <= maxBytes) expect(cut.lines).toEqual(whole.lines);
    }),
    { numRuns: 60 },
  );
});

test("every level is seen before any is complete", async () => {
  const files = Array.from({ length: 8 }, (_, a) =>
    Array.from({ length: 8 }, (_, b) => [
      ...Array.from({ length: 20 }, (_, c) => `a${a}/b${b}/c/${c}.txt`),
      ...Array.from({ length: 20 }, (_, c) => `a${a}/b${b}/file-${c}.txt`),
    ]),
  ).flat(2);
  const { root, lines } = await show(fill([...files, ...files.map((_, i) => `z${i}`)]), { max_bytes: 8192 });
  const shown = countLevels([root]);
  expect(shown).toHaveLength(4);
  for (const [depth, count] of shown.entries()) {
    expect(count).toBeGreaterThan(7);
    expect(count).toBeLessThan([2568, 64, 1344, 1280][depth]! + 1);
  }
  expect(bytesOf(lines)).toBeGreaterThan(6000);
  expect(root.truncated).toMatchObject({ reason: "max_bytes", shown: shown[0], total: 2568 });
});

test("what a small folder does not need goes to the others", async () => {
  const files = [...Array.from({ length: 500 }, (_, i) => `big/${i}.txt`), "small/one.txt", "small/two.txt"];
  const { root, lines } = await show(fill(files), { max_bytes: 1000 });
  const [big, small] = root.children!;
  expect(small!.truncated).toBeUndefined();
  expect(small!.children).toHaveLength(2);
  expect(big!.truncated).toMatchObject({ reason: "max_bytes", shown: big!.children!.length, total: 500 });
  expect(bytesOf(lines)).toBeGreaterThan(900);
});

test("max_nodes and per_folder_limit hold besides", async () => {
  const path = fill(Array.from({ length: 50 }, (_, i) => `a/${i}`));
  const byNodes = await show(path, { max_bytes: 10_000, max_nodes: 5 });
  expect(byNodes.root.children![0]!.truncated).toMatchObject({ reason: "max_nodes", shown: 3 });
  const byWidth = await show(path, { max_bytes: 10_000, per_folder_limit: 5 });
  expect(byWidth.root.children![0]!.truncated).toMatchObject({ reason: "per_folder_limit", shown: 5 });
});

test("a tree without room for one entry is its root", async () => {
  const { root } = await show(fill(["a", "b"]), { max_bytes: 0 });
  expect(root).not.toHaveProperty("children");
  expect(root.truncated).toMatchObject({ reason: "max_bytes", shown: 0 });
});

describe("a folder with very many entries", () => {
  const path = fill(Array.from({ length: 3000 }, (_, index) => `${index}`));

  /** Makes a plan. Returns the number of entries whose lines were measured, and of the pauses. */
  async function plan(maxBytes: number): Promise<{ readonly measured: number; readonly pauses: number }> {
    let [measured, pauses] = [0, 0];
    const jail: Pick<Jail, "baseName" | "deniesIn"> = {
      baseName: runtime.jail.baseName,
      deniesIn(folder, name) {
        measured++;
        return runtime.jail.deniesIn(folder, name);
      },
    };
    const slice = { isDue: true, yieldIfDue: async () => void pauses++ };
    const context = { ...runtime, jail, deadline: deadlineIn(60_000) };
    using folder = runtime.jail.admitFolder(path);
    const filter = new TreeFilter(
      { includesHidden: true, ignoreFiles: undefined, defaultExcludes: undefined },
      folder,
    );
    const limits = { maxDepth: 60, perFolder: 10_000, quota: undefined, visited: 0, goneRoots: [] };
    const snapshot = {
      ...limits,
      context,
      deadline: context.deadline,
      slice,
      filter,
    } as unknown as TreeSnapshot;
    const made = new BytePlan(snapshot, folder, maxBytes);
    const level = { depth: 0, rules: runAtOnce(filter.rulesAtStart(folder)) };
    await made.make(level);
    const { entries } = await runtime.files.page(folder, { from: 0, to: 10_000 }, snapshot as never);
    for (const _ of made.take(folder, level, entries)) pauses++;
    return { measured, pauses };
  }

  test("is planned no further than the bytes reach", async () => {
    expect((await plan(700)).measured).toBeLessThan(300);
  });

  test("is planned and shown in steps", async () => {
    const { measured, pauses } = await plan(1_000_000);
    expect(measured).toBe(6000);
    expect(pauses).toBeGreaterThan(100);
  });
});
