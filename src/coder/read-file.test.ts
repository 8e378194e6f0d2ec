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
