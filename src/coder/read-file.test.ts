import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { defaultConfig } from "./config.ts";
import { readFile } from "./read-file.ts";
import { openCoder } from "./services.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const runtime = await openCoder({ ...defaultConfig(), base_path: base });
const invoke = createInvoke(runtime, createLog({ level: "error", form: "json", write: () => {} }));

afterAll(async () => {
  await runtime.close();
  rmSync(base, { recursive: true });
});

test.each([
  ["nothing", "", 0o644, 1_784_242_424],
  ["text", 'one "line"\n', 0o777, 0],
  ['name "with" é\n', "é\u0001\u{1f600}".repeat(5000), 0o600, -1],
  ["bytes", Buffer.from("drei\n\xff\0", "latin1"), 0o644, 99_999_999_999],
])("the answer for %j is as large as it says", async (path, content, mode, mtime) => {
  writeFileSync(join(base, path), content);
  chmodSync(join(base, path), mode);
  utimesSync(join(base, path), mtime, mtime);
  const outcome = await invoke(readFile, { path });
  if ("error" in outcome) throw new Error(outcome.error);
  expect(outcome.answer).toMatchObject({ path, size: Buffer.byteLength(content), mode });
  expect(outcome.bytes).toBe(Buffer.byteLength(JSON.stringify(outcome.answer)));
});

test("a larger `max_output_bytes` is advised only if one answer can hold as much", async () => {
  const config = { ...defaultConfig(), base_path: base, max_answer_bytes: 80_000 };
  const small = await openCoder(config);
  const invokeSmall = createInvoke(small, createLog({ level: "error", form: "json", write: () => {} }));
  for (const [path, bytes, isAdvised] of [
    ["fits", 70_000, true],
    ["fits-not", 90_000, false],
  ] as const) {
    writeFileSync(join(base, path), "line\n".repeat(bytes / 5));
    const outcome = await invokeSmall(readFile, { path, max_output_bytes: 1000 });
    const error = "error" in outcome ? outcome.error : "";
    expect(error).toContain("up to line 200 it fits");
    expect(error.includes("send a larger max_output_bytes")).toBe(isAdvised);
  }
  await small.close();
});
