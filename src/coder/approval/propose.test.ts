import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import type { Step } from "../../filesystem/disk/steps.ts";
import { defaultConfig } from "../config.ts";
import type { CoderContext } from "../define.ts";
import { type CoderRuntime, openCoder } from "../services.ts";
import { propose } from "./propose.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
let runtime: CoderRuntime;

beforeAll(async () => {
  runtime = await openCoder({ ...defaultConfig(), base_path: base }, { environment: {} });
});
afterAll(async () => {
  await runtime.close();
  rmSync(base, { recursive: true });
});

test("all steps share the slices of one piece of work, and no more are compared than are shown", async () => {
  const context = { ...runtime, functionId: "coder::transact", deadline: deadlineIn(60_000) };
  let [pauses, contents] = [0, 0];
  const slice = { isDue: true, yieldIfDue: async () => void pauses++ };
  const content: Uint8Array[] = [];
  const get = () => {
    contents++;
    return Buffer.from("line\n".repeat(100));
  };
  Object.defineProperty(content, 0, { enumerable: true, get });
  const steps = Array.from({ length: 200 }, (_, index): Step => {
    const staged = { kind: "file", mode: 0o644, content } as const;
    return { kind: "place", change: index, path: `f${index}`, staged };
  });
  const shown = await propose(steps, context as unknown as CoderContext, slice);
  expect(shown).toMatchObject({ summary: { length: 21 }, isDiffCut: true });
  expect(shown.summary.at(-1)).toBe("and 180 more");
  // The fingerprint reads the content of all, and the comparison that of some.
  expect(contents).toBeLessThan(200 + 100);
  expect(pauses).toBeGreaterThan(2 * steps.length);
});
