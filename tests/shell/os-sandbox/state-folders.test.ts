/** The state folders of workers, against commands. The control reads the content of one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerOf } from "../case.ts";
import { type ShellFixture, startShell } from "../shell-fixture.ts";

const config = {
  allowlist: ["bash"],
  allowed_env: ["PATH"],
  denylist_patterns: [],
  fs: { host_root: "<folder>" },
};
/** State folders beside the served folder and inside it. */
const places = ["../state", "."];
const record = "coder/project-0123456789ab.coder-state/intents/record";

const served = new Map<string, Record<"free" | "confined", ShellFixture>>();

beforeAll(async () => {
  for (const place of places) {
    const env = { XDG_STATE_HOME: `<folder>/${place}` };
    const start = (mode: string) => startShell("executable", { ...config, os_sandbox: mode }, { env });
    served.set(place, { free: await start("off"), confined: await start("required") });
  }
});
afterAll(async () => {
  for (const { free, confined } of served.values()) for (const one of [free, confined]) await one.stop();
});

test.each(places)("in %s: a command neither reads nor writes them", async (place) => {
  const outcomes = [];
  for (const { folder, call } of Object.values(served.get(place)!)) {
    const file = join(folder, place, record);
    mkdirSync(join(file, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(file, "secret\n");
    const outer = join(folder, place, "coder");
    const line = `cat '${file}'; echo forged > '${file}'; mv '${outer}' moved; cat moved/*/intents/record`;
    const { stdout } = answerOf(
      await call("shell::exec", { command: "bash", args: ["-c", line], cwd: folder }),
    );
    let left = "gone";
    try {
      left = readFileSync(file, "utf8");
    } catch {
      // The command has moved the file away.
    }
    outcomes.push([String(stdout).includes("secret"), left]);
  }
  expect(outcomes).toEqual([
    [true, "gone"],
    [false, "secret\n"],
  ]);
});
