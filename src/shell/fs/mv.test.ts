/** Tests that a link that leads anywhere is renamed in the profile `agent`, and refused in `contract`. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readlinkSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { defaultShellConfig } from "../config.ts";
import { shellFunctions } from "../functions.ts";
import { openShell } from "../services.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(base, { recursive: true }));

const log = createLog({ level: "error", form: "text", write: () => undefined });
const move = shellFunctions.find(({ id }) => id === "shell::fs::mv")!;

test.each([
  ["contract", { code: "S215" }],
  ["agent", { answer: { moved: true } }],
] as const)("%s", async (profile, outcome) => {
  const config = defaultShellConfig();
  const runtime = await openShell(
    { ...config, profile, fs: { ...config.fs, host_root: base } },
    { environment: {}, log },
  );
  for (const target of ["/etc", "nowhere"]) {
    const [src, dst] = [`${profile}-${target.length}`, `${profile}-${target.length}-moved`];
    symlinkSync(target, join(base, src));
    const request = { src: join(base, src), dst: join(base, dst) };
    expect(await createInvoke(runtime, log)(move, request)).toMatchObject(outcome);
    expect(readlinkSync(join(base, profile === "agent" ? dst : src))).toBe(target);
  }
  await runtime.close();
});
