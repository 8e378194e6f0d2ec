import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

interface Results {
  readonly results: { success: boolean; before?: string; after?: string; new_line_count: number }[];
}

async function edit(paths: string[], origin = {}): Promise<Results> {
  const ops = [{ op: "insert", at_line: 2, content: 'new "line" é' }];
  const outcome = await invoke(updateFile, { files: paths.map((path) => ({ path, ops })) }, origin);
  if ("error" in outcome) throw new Error(outcome.error);
  // The call is charged with the size that the handler states.
  expect(outcome.bytes).toBe(Buffer.byteLength(JSON.stringify(outcome.answer)));
  return outcome.answer as Results;
}

test("the answer has the bodies, and is as large as it says", async () => {
  writeFileSync(join(base, "a"), 'one\n"two"\r\n');
  writeFileSync(join(base, "b"), Buffer.from("\ufeffdrei\n\xff\u0001", "latin1"));
  const { results } = await edit(["a", "missing", "b"]);
  expect(results.map(({ success }) => success)).toEqual([true, false, true]);
  expect(results[0]).toMatchObject({ before: 'one\n"two"\r\n', after: 'one\nnew "line" é\n"two"\r\n' });
  expect(results[0]?.new_line_count).toBe(3);
});

test("bodies are cut to what the caller takes, and the edit is told all the same", async () => {
  const text = "é, and so on\n".repeat(400_000);
  writeFileSync(join(base, "large"), text);
  const { results } = await edit(["large"], { maxAnswerBytes: 8 * 1024 * 1024 });
  const [{ before, after, new_line_count }] = results as [Required<Results["results"][number]>];
  expect(new_line_count).toBe(400_001);
  expect(before).toBe(text);
  expect(after.length).toBeGreaterThan(0);
  expect(after).toBe(`é, and so on\nnew "line" é\n${text.slice(13)}`.slice(0, after.length));
});

test("a body that fills the answer leaves half of it to the other", async () => {
  // Each of these characters takes six bytes of JSON.
  const text = `\n${"\u0001".repeat(1_000_000)}`;
  writeFileSync(join(base, "costly"), text);
  const { results } = await edit(["costly"], { maxAnswerBytes: 5 * 1024 * 1024 });
  const [{ before, after }] = results as [Required<Results["results"][number]>];
  expect(text.startsWith(before)).toBe(true);
  expect(`\nnew "line" é\n${text.slice(1)}`.startsWith(after)).toBe(true);
  const room = (5 - 1) * 1024 * 1024;
  for (const body of [before, after])
    expect(Buffer.byteLength(JSON.stringify(body))).toBeGreaterThan(room * 0.49);
});

test("what one body does not need of its half is the other's", async () => {
  const filler = "\u0001".repeat(1_000_000);
  writeFileSync(join(base, "costly"), `a\n${filler}`);
  const shrink = [{ op: "remove", from_line: 2, to_line: 2 }];
  const grow = [{ op: "replace", pattern: "a", replacement: "\u0001", ignore_case: false }];
  const room = (5 - 1) * 1024 * 1024;
  const one = async (ops: unknown[]) => {
    const outcome = await invoke(
      updateFile,
      { files: [{ path: "costly", ops }] },
      { maxAnswerBytes: 5 * 1024 * 1024 },
    );
    if ("error" in outcome) throw new Error(outcome.error);
    return (outcome.answer as Results).results[0]!;
  };
  const shrunk = await one(shrink);
  expect(shrunk.after).toBe("a");
  expect(Buffer.byteLength(JSON.stringify(shrunk.before))).toBeGreaterThan(room * 0.95);
  writeFileSync(join(base, "costly"), "a".repeat(1_000_000));
  const grown = await one(grow);
  expect(grown.before).toBe("a".repeat(1_000_000));
  expect(Buffer.byteLength(JSON.stringify(grown.after))).toBeGreaterThan((room - 1_000_000) * 0.95);
});

test("other calls get a turn between ops that are short each", async () => {
  writeFileSync(join(base, "long"), "abcdefghi\n".repeat(500_000));
  const ops = Array.from({ length: 2000 }, (_, index) => ({
    op: "str_replace",
    old_str: `z${index}`,
    new_str: "",
    expect_matches: 0,
  }));
  let hasTurned = false;
  setImmediate(() => {
    hasTurned = true;
  });
  const outcome = await invoke(updateFile, { files: [{ path: "long", ops }], dry_run: true, answer: "none" });
  expect(hasTurned).toBe(true);
  expect(outcome).toMatchObject({ answer: { results: [{ success: true, applied: 2000 }] } });
});
