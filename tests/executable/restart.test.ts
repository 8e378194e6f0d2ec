import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../../scripts/build.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

const variable = "BUN_JSC_thresholdForJITAfterWarmUp";

let folder: string;
beforeAll(() => {
  folder = temporaryFolder();
  symlinkSync(executable, join(folder, "shell"));
  const config = { allowlist: ["env"], inherit_env: true, working_dir: folder };
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(config));
});
afterAll(() => rmSync(folder, { recursive: true }));

const messages = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "tests", version: "1" } },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/call", params: { name: "shell_exec", arguments: { command: "env" } } },
];

/**
 * Starts the executable as `shell`, and writes a whole session to its input before it reads any of it.
 * Returns its answers, the initial environment of its process if that can be read, and its status and log
 * after SIGTERM.
 */
async function runSession(environment: Readonly<Record<string, string>>) {
  const { PATH = "", HOME = "" } = process.env;
  const child = Bun.spawn([join(folder, "shell"), "mcp", "--config", "config.yaml"], {
    cwd: folder,
    env: { PATH, HOME, XDG_STATE_HOME: folder, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.write(
    messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""),
  );
  await child.stdin.flush();
  let answers = "";
  for await (const bytes of child.stdout) {
    answers += Buffer.from(bytes).toString();
    if (answers.includes('"id":2')) break;
  }
  // The shell worker closes its own /proc to users other than root.
  const started = process.getuid?.() === 0 ? readFileSync(`/proc/${child.pid}/environ`, "utf8") : undefined;
  child.kill("SIGTERM");
  return { answers, started, status: await child.exited, log: await child.stderr.text() };
}

test("a server that replaces its process keeps its name, input, signals and status", async () => {
  const { answers, started, status, log } = await runSession({ KEPT: "1" });
  expect(answers).toContain('"serverInfo":{"name":"shell"');
  expect(answers).toContain("KEPT=1");
  expect(answers).not.toContain("BUN_JSC");
  expect(started ?? variable).toContain(variable);
  expect([status, log]).toEqual([0, expect.not.stringContaining("Warning")]);
});

test("an option of the engine that its user has set stays, for its commands as well", async () => {
  const { answers, started } = await runSession({ [variable]: "700" });
  expect(answers).toContain(`${variable}=700`);
  expect(started ?? "").not.toContain("FTL");
});
