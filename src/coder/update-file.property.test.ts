import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { openCoder } from "./services.ts";
import { updateFile } from "./update-file.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const runtime = await openCoder({ ...defaultConfig(), base_path: base, fsync: false });
const invoke = createInvoke(runtime, createLog({ level: "error", form: "json", write: () => {} }));

afterAll(async () => {
  await runtime.close();
  rmSync(base, { recursive: true });
});

interface Result {
  readonly success: boolean;
  readonly error?: string;
  readonly after?: string;
}

const file = join(base, "a");

async function call(ops: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): Promise<Result> {
  const outcome = await invoke(updateFile, { files: [{ path: "a", ops }], ...more });
  if ("error" in outcome) throw new Error(outcome.error);
  expect(outcome.bytes).toBe(Buffer.byteLength(JSON.stringify(outcome.answer)));
  return (outcome.answer as { results: Result[] }).results[0]!;
}

const word = fc.constantFrom("a", "b", "ab", "é", " ", "\n");
const text = fc.array(word, { maxLength: 30 }).map((parts) => parts.join(""));
const sent = fc.array(word, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(""));

const strReplace = fc
  .record({
    op: fc.constant("str_replace" as const),
    old_str: sent,
    new_str: fc.oneof(fc.constant(""), sent),
    replace_all: fc.boolean(),
  })
  .filter(({ old_str, new_str }) => old_str !== new_str);

/** Generates replacements whose pattern and replacement have no special characters. */
const replace = fc.record({
  op: fc.constant("replace" as const),
  pattern: fc.constantFrom("a", "b", "é", " ", "ab"),
  replacement: fc.constantFrom("", "c", "ba"),
});

const insert = fc.record({
  op: fc.constant("insert" as const),
  at_line: fc.constant(1),
  content: fc.constantFrom("a", "b a"),
});

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Op = ValueOf<typeof strReplace> | ValueOf<typeof replace> | ValueOf<typeof insert>;

/** Generates lists of ops with at most one line op, at any place. */
const opsOf = fc
  .tuple(
    fc.array(fc.oneof(strReplace, replace), { minLength: 1, maxLength: 4 }),
    fc.option(insert),
    fc.nat(4),
  )
  .map(([ops, line, at]): Op[] => (line === null ? ops : [...ops.slice(0, at), line, ...ops.slice(at)]));

/** Applies all ops by splitting and joining. Returns `undefined` if one of them must be refused. */
function naive(before: string, ops: readonly Op[]): string | undefined {
  let body = before;
  for (const op of ops) {
    if (op.op !== "insert") continue;
    body = body === "" ? op.content : `${op.content}\n${body}`;
  }
  for (const op of ops) {
    if (op.op === "replace") body = body.split(op.pattern).join(op.replacement);
    if (op.op !== "str_replace") continue;
    const first = body.indexOf(op.old_str);
    if (first < 0 || (!op.replace_all && body.lastIndexOf(op.old_str) !== first)) return undefined;
    body = body.split(op.old_str).join(op.new_str);
  }
  return body;
}

test("ops on the text are what splitting and joining it makes, in order, behind line ops", async () => {
  await fc.assert(
    fc.asyncProperty(text, opsOf, async (before, ops) => {
      writeFileSync(file, before);
      const expected = naive(before, ops);
      const { success, after } = await call(ops);
      expect([success, after, readFileSync(file, "utf8")]).toEqual([
        expected !== undefined,
        expected,
        expected ?? before,
      ]);
    }),
    propertyRuns(600),
  );
});

test("a dry run answers what the call then answers, and writes nothing", async () => {
  const answer = fc.constantFrom("bodies", "echo", "diff", "none");
  await fc.assert(
    fc.asyncProperty(text, opsOf, answer, async (before, ops, form) => {
      writeFileSync(file, before);
      const tried = await call(ops, { answer: form, dry_run: true });
      expect(readFileSync(file, "utf8")).toBe(before);
      expect(await call(ops, { answer: form })).toEqual(tried);
    }),
    propertyRuns(450),
  );
});
