/** Calls that wait for approval: which ones, what is shown, and what they leave. */
import { afterEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compareSnapshots, snapshotTree } from "../../../tests/harness/tree.ts";
import { createLog } from "../../base/log/log.ts";
import type { PendingApproval, PromptUser } from "../../calls/approval/approvals.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { defaultConfig } from "../config.ts";
import { functions } from "../functions.ts";
import { openCoder } from "../services.ts";

const opened: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

async function open(approval: "none" | "destructive" | "all") {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const state = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
  const base = join(root, "base");
  mkdirSync(join(base, "docs"), { recursive: true });
  writeFileSync(join(base, "a.txt"), "one\ntwo\nthree\n");
  writeFileSync(join(base, "b.txt"), "b\n");
  writeFileSync(join(base, "docs/c.md"), "c\n");
  for (const name of ["a.txt", "b.txt", "docs/c.md"]) chmodSync(join(base, name), 0o644);
  const journal = { dir: state, max_bytes: 64 * 1024 * 1024, max_records: 500 };
  const config = {
    ...defaultConfig(),
    base_path: base,
    fsync: false,
    journal,
    profile: "agent",
    approval,
  } as const;
  const runtime = await openCoder(config, { environment: {} });
  opened.push(async () => {
    await runtime.close();
    for (const folder of [root, state]) rmSync(folder, { recursive: true });
  });
  const invoke = createInvoke(runtime, createLog({ level: "error", form: "text", write: () => undefined }));
  const asked: PendingApproval[] = [];
  const user = { answer: "yes" as "yes" | "no", meanwhile: () => {} };
  const promptUser: PromptUser = async (question) => {
    asked.push(question);
    user.meanwhile();
    return user.answer;
  };
  const call = async (name: string, payload: object, hasApprover = true) => {
    const definition = functions.find(({ id }) => id === `coder::${name}`)!;
    const outcome = await invoke(definition, payload, hasApprover ? { promptUser } : {});
    // biome-ignore lint/suspicious/noExplicitAny: answers of several functions
    return ("error" in outcome ? JSON.parse(outcome.error) : outcome.answer) as any;
  };
  return { root, call, asked, user, approvals: runtime.approvals!, at: (path: string) => join(base, path) };
}

/** Calls that change something, in order, and whether they are destructive. */
const calls = [
  ["create-file", { files: [{ path: "new.txt", content: "new\n" }] }, false],
  [
    "update-file",
    { files: [{ path: "a.txt", ops: [{ op: "str_replace", old_str: "two", new_str: "2" }] }] },
    false,
  ],
  ["make-folder", { path: "sub" }, false],
  ["copy", { files: [{ from: "docs", to: "docs2" }] }, false],
  ["move", { files: [{ from: "new.txt", to: "sub/new.txt" }] }, false],
  ["create-file", { files: [{ path: "b.txt", content: "B\n", overwrite: true }] }, true],
  ["copy", { files: [{ from: "a.txt", to: "b.txt", overwrite: true }] }, true],
  [
    "transact",
    { changes: [{ op: "update", path: "a.txt", ops: [{ op: "remove", from_line: 1, to_line: 1 }] }] },
    false,
  ],
  [
    "transact",
    {
      changes: [
        { op: "move", from: "a.txt", to: "d.txt" },
        { op: "delete", path: "docs2", recursive: true },
      ],
    },
    true,
  ],
  ["apply-patch", { patch: "--- a/d.txt\n+++ b/d.txt\n@@ -1,2 +1,2 @@\n-2\n+zwei\n three\n" }, false],
  ["replace", { query: "zwei", replacement: "two" }, false],
  ["delete-file", { paths: ["docs"], recursive: true }, true],
  ["undo", {}, true],
] as const;

test("approved calls answer and leave what they do without approval", async () => {
  const free = await open("none");
  const all = await open("all");
  const destructive = await open("destructive");
  let [inAll, inDestructive] = [0, 0];
  for (const [name, payload, isDestructive] of calls) {
    const { checkpoint, transaction: _, ...expected } = await free.call(name, payload);
    for (const one of [all, destructive]) {
      const { transaction: __, ...answer } = await one.call(name, payload);
      expect(answer, name).toEqual({ ...expected, checkpoint });
      expect(compareSnapshots(snapshotTree(free.root), snapshotTree(one.root)), name).toEqual([]);
    }
    expect(all.asked.length, name).toBe(++inAll);
    if (isDestructive) inDestructive++;
    expect(destructive.asked.length, name).toBe(inDestructive);
  }
});

test("declined calls change nothing, whatever they are", async () => {
  const { root, call, user, asked } = await open("all");
  const before = snapshotTree(root);
  user.answer = "no";
  for (const [name, payload] of calls.filter(
    ([name]) => !["undo", "apply-patch", "replace", "move"].includes(name),
  )) {
    const { code, reason, message } = await call(name, payload);
    if (code === "C224") expect({ reason, message }, name).toMatchObject({ reason: "declined" });
    expect(compareSnapshots(before, snapshotTree(root)), name).toEqual([]);
  }
  expect(asked.length).toBeGreaterThan(5);
});

test("reads, trials and calls that change nothing are not asked about", async () => {
  const { call, asked } = await open("all");
  await call("read-file", { path: "a.txt" });
  for (const [name, payload] of calls.slice(0, 9)) await call(name, { ...payload, dry_run: true });
  expect((await call("delete-file", { paths: ["none"] })).results[0].removed).toBe(false);
  expect(
    (
      await call("update-file", {
        files: [{ path: "none", ops: [{ op: "remove", from_line: 1, to_line: 1 }] }],
      })
    ).results[0].success,
  ).toBe(false);
  expect(asked).toEqual([]);
});

test("the question names every change, with its lines", async () => {
  const { call, asked } = await open("all");
  const changes = [
    { op: "update", path: "a.txt", ops: [{ op: "str_replace", old_str: "two", new_str: "2" }] },
    { op: "move", from: "a.txt", to: "sub/a.txt" },
    { op: "update", path: "sub/a.txt", ops: [{ op: "str_replace", old_str: "three", new_str: "3" }] },
    { op: "create", path: "n\u202e.txt", content: "n\n" },
    { op: "delete", path: "docs", recursive: true },
    { op: "chmod", path: "b.txt", mode: "0600" },
  ];
  await call("transact", { changes });
  const [{ summary, diff, isDiffCut }] = asked as [PendingApproval];
  expect(summary).toEqual([
    "edit a.txt +2 -2",
    "make the folder sub",
    "move a.txt to sub/a.txt",
    'create "n\\u202e.txt" (its name has characters that a patch cannot hold)',
    "delete docs/ with 1 file",
    "set the mode of b.txt to 0600",
  ]);
  expect(diff).toContain("-two\n-three\n+2\n+3\n");
  expect(isDiffCut).toBe(false);
});

test("a large change is shown in part, and said to be", async () => {
  const { call, asked } = await open("all");
  const files = Array.from({ length: 30 }, (_, index) => ({
    path: `f${index}`,
    content: "line\n".repeat(500),
  }));
  await call("create-file", { files });
  const [{ summary, diff, isDiffCut }] = asked as [PendingApproval];
  expect(summary.length).toBe(21);
  expect(summary.at(-1)).toBe("and 10 more");
  expect(isDiffCut).toBe(true);
  expect(diff.length).toBeLessThan(20_000);
});

test("files that change while the user thinks make the call stale", async () => {
  const { call, user, at } = await open("all");
  for (const [name, payload] of [
    ["delete-file", { paths: ["a.txt"] }],
    [
      "update-file",
      { files: [{ path: "a.txt", ops: [{ op: "str_replace", old_str: "one", new_str: "1" }] }] },
    ],
    ["create-file", { files: [{ path: "a.txt", content: "", overwrite: true }] }],
    ["transact", { changes: [{ op: "move", from: "a.txt", to: "z.txt" }] }],
    ["replace", { query: "one", replacement: "1" }],
  ] as const) {
    user.meanwhile = () => writeFileSync(at("a.txt"), `one\n${name}\n`);
    const { code, reason, message } = await call(name, payload);
    expect({ code, reason }, name).toEqual({ code: "C221", reason: "revision_mismatch" });
    expect(message).toStartWith(
      "Files changed after the user was shown what this call does. Nothing was changed.",
    );
    expect(readFileSync(at("a.txt"), "utf8"), name).toBe(`one\n${name}\n`);
  }
  user.meanwhile = () => writeFileSync(at("docs/late.md"), "late\n");
  expect((await call("delete-file", { paths: ["docs"], recursive: true })).code).toBe("C221");
  expect(existsSync(at("docs/late.md"))).toBe(true);
});

test("where nobody can be asked, the answer names a plan, which is carried out once it is approved", async () => {
  const { call, approvals, at } = await open("destructive");
  const refused = await call("delete-file", { paths: ["docs", "none"], recursive: true }, false);
  expect(refused).toMatchObject({ code: "C224", reason: "approval_required" });
  const { plan } = refused.details;
  expect(refused.message).toContain(`The plan "${plan}" does exactly this.`);
  expect(approvals.pending()).toMatchObject([
    { id: plan, function: "coder::delete-file", summary: ["delete docs/ with 1 file"] },
  ]);
  const again = await call("commit", { plan }, false);
  expect(again).toMatchObject({ code: "C224", details: { plan } });
  expect(approvals.pending().length).toBe(1);
  expect(existsSync(at("docs"))).toBe(true);
  expect(approvals.answer(plan, "yes", "ann")).toBe("taken");
  const done = await call("commit", { plan }, false);
  expect(done).toMatchObject({
    committed: true,
    results: [
      { op: "delete", path: "docs", removed: true },
      { op: "delete", removed: false },
    ],
  });
  expect(existsSync(at("docs"))).toBe(false);
  const undo = await call("undo", {}, false);
  approvals.answer(undo.details.plan, "yes", "ann");
  expect((await call("commit", { plan: undo.details.plan }, false)).results).toContainEqual({
    op: "undo",
    path: "docs/c.md",
    removed: false,
  });
  const { plan: own } = await call(
    "transact",
    { changes: [{ op: "delete", path: "a.txt" }], dry_run: true },
    false,
  );
  expect((await call("commit", { plan: own }, false)).details).toEqual({ plan: own });
  approvals.answer(own, "no", "ann");
  expect((await call("commit", { plan: own }, false)).reason).toBe("declined");
  expect(existsSync(at("a.txt"))).toBe(true);
});

test("an approved plan whose files have changed is not carried out", async () => {
  const { call, approvals, at } = await open("destructive");
  const { details } = await call("delete-file", { paths: ["a.txt"] }, false);
  approvals.answer(details.plan, "yes", "ann");
  writeFileSync(at("a.txt"), "changed\n");
  expect((await call("commit", { plan: details.plan }, false)).code).toBe("C221");
  expect(readFileSync(at("a.txt"), "utf8")).toBe("changed\n");
});
