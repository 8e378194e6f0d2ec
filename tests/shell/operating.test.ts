/** Quotas and the audit trail, which operators configure for all calls of `shell::*` (shell §15). */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { callThrough } from "../harness/worker-fixture.ts";
import { answerOf, expectCode } from "./case.ts";
import { jailed, openCaseFolder } from "./fixture.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

async function withShell(config: object, use: (served: ShellFixture) => Promise<void>): Promise<void> {
  const served = await startShell("source", { ...jailed(), ...config });
  try {
    await use(served);
  } finally {
    expect(await served.stop()).toBe(0);
  }
}

test("a caller over its quota is refused, and others are served", async () => {
  await withShell({ quotas: { bytes_per_minute: 150 } }, async (served) => {
    const command = { command: "printf", args: ["x".repeat(200)] };
    answerOf(await served.call("shell::exec", command));
    for (const name of ["shell::exec", "shell::exec_bg", "shell::list"])
      expectCode(await served.call(name, command), "S216", "bytes_per_minute (150)", "Send it again in");
    const other = await callThrough(served.connect(), "shell::exec", command);
    expect(answerOf(other)).toMatchObject({ exit_code: 0 });
  });
});

test("each call leaves a line, a command with its program alone", async () => {
  const file = "<folder>/../audit.jsonl";
  await withShell({ audit: { file } }, async (served) => {
    const { call, at } = openCaseFolder(served, { f: "a word\n" });
    answerOf(await served.call("shell::exec", { command: "echo secret" }));
    answerOf(await served.call("shell::exec_bg", { command: "echo", args: ["secret"] }));
    await served.call("shell::exec", { command: "'" });
    await served.call("shell::exec", { command: "reboot", args: ["secret"] });
    answerOf(await call("sed", { files: ["<base>/f"], pattern: "word", replacement: "secret" }));
    await call("stat", { path: "<base>/none" });
    await call("sed", { files: ["<base>/none"], pattern: "word", replacement: "secret" });
    await call("sed", { files: ["<base>/f", "<base>/none"], pattern: "word", replacement: "secret" });
    const text = readFileSync(join(served.folder, "../audit.jsonl"), "utf8");
    expect(text).not.toContain("secret");
    const lines = text.trimEnd().split("\n");
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(parsed.map((line) => [line["function"], line["program"], line["outcome"], line["code"]])).toEqual([
      ["shell::exec", "echo", "ok", undefined],
      ["shell::exec_bg", "echo", "ok", undefined],
      ["shell::exec", undefined, "error", "S210"],
      ["shell::exec", "reboot", "error", "S215"],
      ["shell::fs::sed", undefined, "ok", undefined],
      ["shell::fs::stat", undefined, "error", "S211"],
      ["shell::fs::sed", undefined, "error", "S211"],
      ["shell::fs::sed", undefined, "ok", "S211"],
    ]);
    expect(parsed.at(-1)).toMatchObject({ failed: 1 });
    expect(parsed[4]).toMatchObject({ paths: [at("f")], changes: [{ kind: "replace" }] });
    expect(new Set(parsed.map(({ caller }) => caller)).size).toBe(1);
  });
});
