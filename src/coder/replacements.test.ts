import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { openCoder } from "./services.ts";
import { updateFile } from "./update-file.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const journal = { dir: mkdtempSync(join(tmpdir(), "state-")), max_bytes: 2 ** 20, max_records: 9 };
const config = { ...defaultConfig(), base_path: base, fsync: false, journal };
const agent = await openCoder({ ...config, profile: "agent" }, { environment: {} });
const contract = await openCoder(config, { environment: {} });
const log = createLog({ level: "error", form: "text", write: () => undefined });
afterAll(async () => {
  await agent.close();
  await contract.close();
  rmSync(base, { recursive: true });
  rmSync(journal.dir, { recursive: true });
});

/** Makes a replacement. Returns the new text of the file, and the result of the call. */
async function replace(text: string, pattern: string, replacement: string, runtime = agent) {
  writeFileSync(join(base, "f"), text);
  const files = [{ path: "f", ops: [{ op: "replace", pattern, replacement }] }];
  const outcome = await createInvoke(runtime, log)(updateFile, { files });
  if ("error" in outcome) throw new Error(outcome.error);
  const { results } = outcome.answer as { results: { success: boolean; error?: string; hints?: string[] }[] };
  return { after: readFileSync(join(base, "f"), "utf8"), ...results[0]! };
}

test.each([
  ["<\\1>", "${1}"],
  ["$&!", "$0"],
])("the replacement %j is refused with what to send", async (replacement, advice) => {
  const { success, error, after } = await replace("ab\n", "(a)", replacement);
  expect([success, after]).toEqual([false, "ab\n"]);
  expect(error).toContain(advice);
  expect((await replace("ab\n", "(a)", replacement, contract)).success).toBe(true);
});

/** Makes a call whose last op is refused. Returns its error. */
async function errorOf(ops: readonly object[], runtime = agent): Promise<string> {
  writeFileSync(join(base, "f"), "ab\n");
  const outcome = await createInvoke(runtime, log)(updateFile, { files: [{ path: "f", ops }] });
  if ("error" in outcome) throw new Error(outcome.error);
  expect(readFileSync(join(base, "f"), "utf8")).toBe("ab\n");
  const { results } = outcome.answer as { results: { error: string }[] };
  return (JSON.parse(results[0]!.error) as { message: string }).message;
}

test.each([
  ["a bad pattern", { pattern: "(", replacement: "x" }, 'ops[1]: The pattern "(" is not valid: '],
  ["an unknown group", { pattern: "b", replacement: "$1x" }, 'ops[1]: The replacement "$1x" is not valid: '],
  ["a foreign reference", { pattern: "(b)", replacement: "\\1" }, 'ops[1]: The replacement "\\\\1" has '],
  ["a pattern that is too large", { pattern: "(?:\\w{999}){99}", replacement: "" }, "ops[1]: The pattern "],
  ["an empty pattern", { pattern: "", replacement: "x" }, 'ops[1] of "f" has an empty `pattern`. '],
])("the refusal of %s names its op, and does not in the profile contract", async (_, op, begin) => {
  const first = { op: "str_replace", old_str: "a", new_str: "b" };
  const ops = [first, { op: "replace", ...op }];
  expect(await errorOf(ops)).toStartWith(begin);
  if (op.replacement !== "\\1") expect(await errorOf(ops, contract)).not.toContain("ops[");
});

test("the refusal of a result that is too large names its op", async () => {
  const small = await openCoder({ ...config, profile: "agent", max_write_bytes: 9 }, { environment: {} });
  const replacement = "x".repeat(10);
  const ops = [
    { op: "str_replace", old_str: "a", new_str: "A" },
    { op: "replace", pattern: "b", replacement },
  ];
  expect(await errorOf(ops, small)).toStartWith('ops[1]: A replace op would make "f" larger than');
  expect(
    await errorOf([ops[0]!, { op: "str_replace", old_str: "b", new_str: replacement }], small),
  ).toStartWith('ops[1]: A replace op would make "f" larger than');
  await small.close();
});

test("what only resembles a reference is written", async () => {
  expect((await replace("ab\n", "a", "\\1")).after).toBe("\\1b\n");
  expect((await replace("ab\n", "(?:a)", "\\1")).after).toBe("\\1b\n");
  expect((await replace("ab\n", "(a)", "$$&$1")).after).toBe("$&ab\n");
});

test("an escape that was written as text is pointed out", async () => {
  const { after, hints } = await replace("ab\n", "a", "x\\ny");
  expect(after).toBe("x\\nyb\n");
  expect(hints).toEqual([expect.stringContaining("a backslash and a letter")]);
  expect((await replace("ab\n", "a", "x\ny")).hints).toBeUndefined();
  expect((await replace("ab\n", "a", "\\n", contract)).hints).toBeUndefined();
});

test("a pattern that would match with (?m) says so, with the number of matches", async () => {
  const { success, error } = await replace("a = 30\nb = 30\n", "30$", "40");
  expect([success, error]).toEqual([false, expect.stringMatching(/\(\?m\).*2 times/)]);
  expect((await replace("a\n", "^b", "c")).error).not.toContain("(?m)");
  expect((await replace("a\n", "(?m)^b", "c")).error).toContain("matches nothing");
  expect((await replace("a\n", "b", "c", contract)).success).toBe(true);
});

test("a pattern with a carriage return says how line ends match", async () => {
  const { error } = await replace("a\r\nb\r\n", "a\\r\\n", "");
  expect(error).toContain("each line end matches as \\\\n");
});

test("what is not plain is named", async () => {
  const names = async (text: string) => await replace(text, "a", "b");
  expect(await names("\ufeffa\r\nc")).toMatchObject({
    text_notes: ["BOM", "no newline at the end"],
    line_ends: "CRLF",
  });
  expect(await names("a\n")).not.toHaveProperty("text_notes");
});
