/** Undo by transactions, of what the functions change. */
import { afterEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareSnapshots, snapshotTree } from "../../tests/harness/tree.ts";
import { createLog } from "../base/log/log.ts";
import { deadlineIn } from "../base/scheduling/deadline.ts";
import { runAtOnce, type Steps } from "../base/scheduling/time-slice.ts";
import { wordingFor } from "../calls/contract/wording.ts";
import { createInvoke } from "../calls/invoke.ts";
import type { Transactions } from "../filesystem/transactions/transactions.ts";
import { defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function open(journal: { max_bytes?: number; max_records?: number } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const base = join(root, "base");
  mkdirSync(base);
  const state = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
  const runtime = await openCoder(
    {
      ...defaultConfig(),
      base_path: base,
      fsync: false,
      journal: { dir: state, max_bytes: 64 * 1024 * 1024, max_records: 500, ...journal },
    },
    { environment: {} },
  );
  opened.push(async () => {
    await runtime.close();
    for (const folder of [root, state]) rmSync(folder, { recursive: true });
  });
  const log = createLog({ level: "error", form: "text", write: () => undefined });
  const invoke = createInvoke(runtime, log);
  const call = async (id: string, payload: object) => {
    const outcome = await invoke(functions.find((one) => one.id === id)!, payload);
    if ("error" in outcome) throw new Error(outcome.error);
    // biome-ignore lint/suspicious/noExplicitAny: answers of several functions
    return outcome.answer as any;
  };
  const at = (path: string) => join(base, path);
  return { at, call, state, snapshot: () => snapshotTree(root), runtime };
}

test("everything that the functions change comes back, and goes again", async () => {
  const { at, call, snapshot } = await open();
  mkdirSync(at("d/empty"), { recursive: true });
  mkdirSync(at("d/closed"));
  writeFileSync(at("d/closed/f"), "in a folder that may not be written");
  chmodSync(at("d/closed"), 0o500);
  writeFileSync(at("d/f"), "one\n");
  chmodSync(at("d/f"), 0o4711);
  symlinkSync("f", at("d/l"));
  writeFileSync(at("g"), "two\n");
  writeFileSync(at("big"), Buffer.alloc(3_000_000, 7));
  chmodSync(at("g"), 0o440);
  const states = [snapshot()];
  const calls: readonly (readonly [string, object])[] = [
    ["coder::move", { files: [{ from: "g", to: "d/f", overwrite: true }] }],
    ["coder::copy", { files: [{ from: "d", to: "e/copy" }] }],
    ["coder::delete-file", { paths: ["d"], recursive: true }],
    [
      "coder::create-file",
      {
        files: [
          { path: "d", content: "a file now" },
          { path: "n/m/o", content: "" },
        ],
      },
    ],
    ["coder::update-file", { files: [{ path: "d", ops: [{ op: "insert", at_line: 1, content: "x\n" }] }] }],
    ["coder::make-folder", { paths: ["p/q"], mode: "0700" }],
    ["coder::move", { files: [{ from: "e", to: "p/q/r" }] }],
    ["coder::create-file", { files: [{ path: "big", content: "small", overwrite: true }] }],
  ];
  for (const [id, payload] of calls) {
    const { results } = await call(id, payload);
    for (const result of results) expect(result).toMatchObject({ success: true });
    states.push(snapshot());
  }
  const undone = await call("coder::undo", { steps: calls.length });
  expect(undone.conflicts).toEqual([]);
  expect(undone.transaction).toMatch(/^[0-9a-f]{16}$/);
  expect(compareSnapshots(snapshot(), states[0]!)).toEqual([]);
  await call("coder::undo", {});
  expect(compareSnapshots(snapshot(), states.at(-1)!)).toEqual([]);
  await call("coder::undo", {});
  expect(compareSnapshots(snapshot(), states[0]!)).toEqual([]);
  await call("coder::undo", {});
  for (let seq = calls.length; seq > 0; seq--) {
    expect((await call("coder::undo", { seq })).conflicts).toEqual([]);
    expect(compareSnapshots(snapshot(), states[seq - 1]!)).toEqual([]);
  }
});

test("what others changed is a conflict, and stays", async () => {
  const { at, call, snapshot } = await open();
  for (const name of ["a", "b", "c"]) writeFileSync(at(name), name);
  await call("coder::delete-file", { paths: ["a", "b"] });
  await call("coder::create-file", {
    files: [
      { path: "n/f", content: "" },
      { path: "c", content: "x", overwrite: true },
    ],
  });
  writeFileSync(at("a"), "a person's");
  writeFileSync(at("n/g"), "a person's");
  writeFileSync(at("c"), "y");
  const before = snapshot();
  const all = await call("coder::undo", { steps: 2 });
  expect(all).toEqual({
    undone: [],
    conflicts: [
      { path: "c", seq: 2, expected: "file", found: "file" },
      { path: "n", seq: 2, expected: "dir", found: "dir", stays: true, holds: "n/g" },
      { path: "a", seq: 1, expected: "absent", found: "file" },
    ],
    ways: [
      {
        prepare: true,
        calls: [
          { seq: 2, force: true },
          { seq: 1, force: true },
        ],
      },
    ],
  });
  expect(compareSnapshots(snapshot(), before)).toEqual([]);
  const some = await call("coder::undo", { steps: 2, paths: ["b", "./n/f"] });
  expect(some.conflicts).toEqual([]);
  expect(readFileSync(at("b"), "utf8")).toBe("b");
  expect(existsSync(at("n/f"))).toBe(false);
  const forced = await call("coder::undo", { seq: 2, force: true });
  expect(forced.undone).toEqual([
    { seq: 2, restored: ["c"], removed: [], skipped: [{ path: "n", reason: "in-the-way" }] },
  ]);
  expect(readFileSync(at("c"), "utf8")).toBe("c");
  expect(readFileSync(at("n/g"), "utf8")).toBe("a person's");
  await call("coder::undo", {});
  expect(readFileSync(at("c"), "utf8")).toBe("y");
});

test("a change of another program between two checkpoints is named as the cause, not the later one", async () => {
  const { at, call } = await open();
  const edit = (old_str: string, new_str: string) =>
    call("coder::update-file", { files: [{ path: "f", ops: [{ op: "str_replace", old_str, new_str }] }] });
  const conflictsOf = async () => (await call("coder::undo", { seq: 2 })).conflicts;
  await call("coder::create-file", { files: [{ path: "f", content: "one\ntwo\n" }] });
  await edit("two", "TWO");
  await edit("one", "ONE");
  // The later checkpoint is the only cause.
  expect(await conflictsOf()).toMatchObject([{ path: "f", seq: 2, by: 3 }]);
  await call("coder::undo", { seq: 3 });
  writeFileSync(at("f"), "zero\none\nTWO\n");
  await edit("zero", "ZERO");
  for (let undone = 0; undone < 2; undone++) {
    const conflicts = await conflictsOf();
    expect(conflicts).toMatchObject([{ path: "f", seq: 2 }]);
    expect(conflicts[0]).not.toHaveProperty("by");
    await call("coder::undo", {});
  }
});

test("a trial changes nothing", async () => {
  const { at, call, snapshot } = await open();
  writeFileSync(at("f"), "old");
  await call("coder::delete-file", { paths: ["f"] });
  const before = snapshot();
  const tried = await call("coder::undo", { dry_run: true });
  expect(tried).toEqual({
    undone: [{ seq: 1, restored: ["f"], removed: [], skipped: [] }],
    conflicts: [],
  });
  expect(compareSnapshots(snapshot(), before)).toEqual([]);
  expect((await call("coder::checkpoints", {})).checkpoints).toHaveLength(1);
});

test("a delete says what the journal cannot keep, where a later field asks or the profile has a journal", async () => {
  const { at, call } = await open({ max_bytes: 4096 });
  for (const name of ["f", "g", "h"]) writeFileSync(at(name), name.repeat(name === "g" ? 1 : 5000));
  const plain = await call("coder::delete-file", { paths: ["f"] });
  expect(plain.results).toEqual([{ path: "f", success: true, removed: true }]);
  const later = await call("coder::delete-file", { paths: ["g", "h"], expected_revisions: {} });
  expect(later.results).toEqual([
    { path: "g", success: true, removed: true },
    { path: "h", success: true, removed: true, undo: "unavailable" },
  ]);
  const { checkpoints } = await call("coder::checkpoints", {});
  expect(checkpoints[0].files).toEqual([
    { path: "g", change: "deleted" },
    { path: "h", change: "deleted", unavailable: true },
  ]);
  const undone = await call("coder::undo", { steps: 2 });
  expect(undone.undone).toEqual([
    { seq: 2, restored: ["g"], removed: [], skipped: [{ path: "h", reason: "unavailable" }] },
    { seq: 1, restored: [], removed: [], skipped: [{ path: "f", reason: "unavailable" }] },
  ]);
});

test("checkpoints in pages, of a path, and with what became of it", async () => {
  const { at, call } = await open();
  writeFileSync(at("f"), "");
  await call("coder::create-file", { files: [{ path: "d/a", content: "" }] });
  await call("coder::move", { files: [{ from: "d/a", to: "d/b" }] });
  await call("coder::update-file", {
    files: [{ path: "f", ops: [{ op: "insert", at_line: 1, content: "x" }] }],
  });
  await call("coder::delete-file", { paths: ["f", "d"], recursive: true });
  const page = await call("coder::checkpoints", { limit: 3 });
  expect(page.next_before_seq).toBe(2);
  const rest = await call("coder::checkpoints", { before_seq: 2 });
  const all = [...page.checkpoints, ...rest.checkpoints];
  expect(all.map(({ seq, function_id, files }) => [seq, function_id, files])).toEqual([
    [
      4,
      "coder::delete-file",
      [
        { path: "f", change: "deleted" },
        { path: "d/b", change: "deleted" },
        { path: "d", change: "deleted" },
      ],
    ],
    [3, "coder::update-file", [{ path: "f", change: "modified" }]],
    [2, "coder::move", [{ path: "d/b", from: "d/a", change: "moved" }]],
    [
      1,
      "coder::create-file",
      [
        { path: "d", change: "created" },
        { path: "d/a", change: "created" },
      ],
    ],
  ]);
  const of = await call("coder::checkpoints", { path: "d/a" });
  expect(of.checkpoints.map(({ seq }: { seq: number }) => seq)).toEqual([2, 1]);
});

test("links come back that lead nowhere by then", async () => {
  const { at, call } = await open();
  mkdirSync(at("d"));
  writeFileSync(at("d/f"), "x");
  symlinkSync("f", at("d/l"));
  await call("coder::delete-file", { paths: ["d"], recursive: true });
  await call("coder::undo", {});
  expect(readlinkSync(at("d/l"))).toBe("f");
  await call("coder::undo", {});
  expect(existsSync(at("d"))).toBe(false);
  await call("coder::undo", {});
  expect(lstatSync(at("d/l")).isSymbolicLink()).toBe(true);
});

/** Names that other programs may make, and calls may not. */
const strangeNames = ["back\\slash", "new\nline", "bell\x07", "C:\\a", "del\x7f"];

test.each(strangeNames)(
  "a file named %j comes back, alone or in a folder, deleted or moved",
  async (name) => {
    const { at, call, snapshot } = await open();
    mkdirSync(at("d/inside"), { recursive: true });
    for (const path of [name, `d/${name}`, `d/inside/${name}`]) writeFileSync(at(path), `of ${path}`);
    writeFileSync(at("plain"), "plain");
    const before = snapshot();
    const calls: readonly (readonly [string, object])[] = [
      ["coder::delete-file", { paths: [name] }],
      ["coder::delete-file", { paths: ["d"], recursive: true }],
      ["coder::move", { files: [{ from: `d/${name}`, to: "d/clean" }] }],
      ["coder::move", { files: [{ from: "plain", to: name, overwrite: true }] }],
      ["coder::transact", { changes: [{ op: "delete", path: `d/${name}` }] }],
    ];
    for (const [id, payload] of calls) {
      await call(id, payload);
      const after = snapshot();
      expect(compareSnapshots(before, after)).not.toEqual([]);
      await call("coder::undo", {});
      expect(compareSnapshots(before, snapshot())).toEqual([]);
      await call("coder::undo", {});
      expect(compareSnapshots(after, snapshot())).toEqual([]);
      await call("coder::undo", {});
      expect(compareSnapshots(before, snapshot())).toEqual([]);
    }
  },
);

test("what no path can name is deleted as something that cannot be undone", async () => {
  const { at, call } = await open();
  mkdirSync(at("not UTF-8"));
  mkdirSync(Buffer.concat([Buffer.from(at("not UTF-8/")), Buffer.from([0xff])]));
  mkdirSync(at("deep"));
  // The system takes no path as long as that of the innermost folder, so each one is moved into another.
  for (let depth = 0; depth < 20; depth++) {
    mkdirSync(at("outer"));
    renameSync(at("deep"), join(at("outer"), "d".repeat(250)));
    renameSync(at("outer"), at("deep"));
  }
  const { results } = await call("coder::delete-file", {
    paths: ["not UTF-8", "deep"],
    recursive: true,
    expected_revisions: {},
  });
  expect(results).toEqual([
    { path: "not UTF-8", success: true, removed: true, undo: "unavailable" },
    { path: "deep", success: true, removed: true, undo: "unavailable" },
  ]);
});

test("an undo that changes nothing says so, and one that does how it is taken back", async () => {
  const { at, call } = await open();
  const { render } = functions.find(({ id }) => id === "coder::undo")!;
  const wording = wordingFor((id) => id);
  const undo = async (request: object) => {
    const rendering = render!(await call("coder::undo", request), wording, request);
    return String(runAtOnce(rendering as Steps<string>)).split("\n");
  };
  const again = "Undone; coder::undo without fields takes this undo back.";
  await call("coder::create-file", { files: [{ path: "a", content: "1" }] });
  await call("coder::create-file", { files: [{ path: "b", content: "1" }] });
  expect(await undo({ seq: 1, dry_run: true })).toEqual(["#1", "  removed: a", "Would be undone."]);
  expect(await undo({ seq: 2, paths: ["a"] })).toEqual([
    "#2",
    "[#2 has not changed a]",
    "Nothing was undone: nothing at these paths is left to undo. coder::checkpoints with path lists what changed there; send its seq.",
  ]);
  expect(await undo({ paths: ["a"], dry_run: true })).toEqual(["#1", "  removed: a", "Would be undone."]);
  expect(await undo({ seq: 1 })).toEqual(["#1", "  removed: a", again]);
  expect(await undo({ seq: 1 })).toEqual([
    "#1",
    "Nothing was undone: undone already by #3. To redo, undo #3.",
  ]);
  expect(await undo({})).toEqual(["#3", "  restored: a", again]);
  expect(existsSync(at("a"))).toBe(true);
});

test("a call that changed nothing has no checkpoint to undo", async () => {
  const { at, call } = await open();
  mkdirSync(at("full/folder"), { recursive: true });
  await call("coder::delete-file", { paths: ["full"] });
  await call("coder::create-file", { files: [{ path: "a", content: "1" }] });
  const [{ seq }] = (await call("coder::checkpoints", {})).checkpoints;
  for (let earlier = 1; earlier < seq; earlier++)
    expect(call("coder::undo", { seq: earlier })).rejects.toThrow(`no checkpoint ${earlier}`);
});

test("no steps are neither one nor all of them", async () => {
  const { at, call } = await open();
  for (const path of ["a", "b"]) await call("coder::create-file", { files: [{ path, content: "1" }] });
  expect(call("coder::undo", { steps: 0 })).rejects.toThrow("`steps` is 0. Nothing was undone.");
  expect([existsSync(at("a")), existsSync(at("b"))]).toEqual([true, true]);
});

test("an undo that is made is answered, even if its time is up when it is listed", async () => {
  const { at, call, runtime } = await open();
  await call("coder::create-file", { files: [{ path: "a", content: "" }] });
  await call("coder::delete-file", { paths: ["a"] });
  await call("coder::create-file", { files: [{ path: "b", content: "" }] });
  const caller = new AbortController();
  const run: Transactions["run"] = async (...transaction) => {
    const committed = await runtime.transactions!.run(...transaction);
    caller.abort();
    for (const start = performance.now(); performance.now() < start + 20; ); // until every slice is used up
    return committed;
  };
  const transactions = { ...runtime.transactions!, run };
  const log = createLog({ level: "error", form: "text", write: () => undefined });
  const undo = functions.find(({ id }) => id === "coder::undo")!;
  const invoke = createInvoke({ ...runtime, transactions } as typeof runtime, log);
  const outcome = await invoke(undo, { steps: 3 }, { cancelled: caller.signal });
  const listed = [1, 2, 3].map((seq) => ({
    seq,
    restored: [],
    removed: seq === 3 ? ["b"] : [],
    skipped: [],
  }));
  expect(outcome).toMatchObject({ answer: { undone: listed.reverse(), conflicts: [] } });
  expect(existsSync(at("b"))).toBe(false);
});

test("a label has 200 characters, and one record of another worker that has more breaks no list", async () => {
  const { call, runtime, at } = await open();
  const change = { op: "create", path: "a", content: "" };
  const longest = "x".repeat(200);
  await call("coder::transact", { changes: [change], label: longest });
  expect(
    call("coder::transact", { changes: [{ ...change, path: "b" }], label: `${longest}x` }),
  ).rejects.toThrow("The field label has 201 characters; expected at most 200");
  expect(existsSync(at("b"))).toBe(false);
  const staged = { kind: "file", content: [Buffer.from("")], mode: 0o644 } as const;
  await runtime.transactions!.run(
    async () => ({
      steps: [{ kind: "place", path: "c", staged, change: 0 }],
      keys: new Set<string>(),
      value: undefined,
    }),
    {
      requester: { deadline: deadlineIn(Number.POSITIVE_INFINITY), functionId: "other" },
      label: "y".repeat(20_000_000),
    },
  );
  const { checkpoints } = await call("coder::checkpoints", {});
  expect(checkpoints.map(({ label }: { label: string }) => label)).toEqual(["y".repeat(200), longest]);
  await call("coder::undo", { steps: 2 });
  expect([existsSync(at("a")), existsSync(at("c"))]).toEqual([false, false]);
});

test("a transaction that was left half done is listed by info, and resolved by undo", async () => {
  const { call, state } = await open();
  const id = "0123456789abcdef";
  await call("coder::transact", { changes: [{ op: "create", path: "a", content: "" }] });
  expect(await call("coder::info", {})).not.toHaveProperty("unresolved_transactions");
  const [location] = readdirSync(state);
  writeFileSync(join(state, location!, "intents", `${id}.conflict`), "torn");
  const { unresolved_transactions } = await call("coder::info", {});
  expect(unresolved_transactions).toEqual([id]);
  const none = { undone: [], conflicts: [] };
  const undo = (fields: object) => call("coder::undo", { transaction: id, ...fields });
  expect(await undo({})).toEqual({ ...none, resolved: { outcome: "in-conflict", paths: [] } });
  expect(undo({ dry_run: true })).rejects.toThrow(`no transaction ${id}`);
  expect(await undo({ force: true })).toEqual({ ...none, resolved: { outcome: "given-up", paths: [] } });
  expect(undo({ force: true })).rejects.toThrow(`no transaction ${id}`);
  expect(await call("coder::info", {})).not.toHaveProperty("unresolved_transactions");
});
