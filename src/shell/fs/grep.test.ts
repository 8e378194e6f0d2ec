import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { defaultShellConfig } from "../config.ts";
import { openShell } from "../services.ts";
import { grep } from "./grep.ts";

const log = createLog({ level: "error", form: "text", write: () => undefined });

interface Answer {
  readonly matches: readonly { line: number; path: string }[];
  readonly truncated: boolean;
}

test("with the paths of the host an answer has no more bytes than the caller takes, and says what it left out", async () => {
  const folder = realpathSync(
    mkdtempSync(join(tmpdir(), "a-host-path-that-takes-more-than-what-search-counts-")),
  );
  for (let i = 0; i < 8; i++) writeFileSync(join(folder, `${i}`), `"x" ${"é".repeat(i)}\n`);
  const config = defaultShellConfig();
  const runtime = await openShell(
    { ...config, fs: { ...config.fs, host_root: folder } },
    { environment: {}, log },
  );
  const invoke = createInvoke(runtime, log);
  const counts = new Set<number>();
  for (let maxAnswerBytes = 100; maxAnswerBytes < 1600; maxAnswerBytes += 7) {
    const outcome = await invoke(grep, { path: folder, pattern: "x" }, { maxAnswerBytes });
    if ("error" in outcome) throw new Error(outcome.error);
    const { matches, truncated } = outcome.answer as Answer;
    expect(Buffer.byteLength(JSON.stringify(outcome.answer))).toBeLessThanOrEqual(maxAnswerBytes);
    expect(matches.map(({ path }) => path)).toEqual(matches.map((_, i) => join(folder, `${i}`)));
    expect(truncated).toBe(matches.length < 8);
    counts.add(matches.length);
  }
  expect([...counts]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  await runtime.close();
  rmSync(folder, { recursive: true });
});
