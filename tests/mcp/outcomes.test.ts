/** The outcome of each call, as its client, the audit trail, the log and telemetry see it (coder §21). */
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attributesOf, TestCollector } from "../harness/collector.ts";
import { connectStdio } from "./client.ts";

interface Reported {
  readonly outcome?: unknown;
  readonly code?: unknown;
  readonly failed?: unknown;
}

const reported = ({ outcome, code, failed }: Reported): unknown[] => [outcome, code, failed];

/** Calls, each with whether its result has `isError`, and what all records of it say. */
const cases: readonly (readonly [string, object, boolean, ...unknown[]])[] = [
  ["coder_create_file", { path: ".env", content: "x" }, true, "error", "C211", undefined],
  ["coder_create_file", { path: ".git/hooks/x", content: "x" }, true, "error", "C222", undefined],
  ["coder_create_file", { path: "a.txt", content: "x" }, true, "error", "C217", undefined],
  ["coder_create_file", { path: "new.txt", content: "x" }, false, "ok", undefined, undefined],
  ["coder_delete_file", { path: ".env" }, true, "error", "C211", undefined],
  ["coder_move", { from: "none.txt", to: "b.txt" }, true, "error", "C211", undefined],
  ["coder_make_folder", { path: ".env" }, true, "error", "C211", undefined],
  ["coder_update_file", { path: "a.txt", old_str: "none", new_str: "x" }, true, "error", "C210", undefined],
  ["coder_read_file", { paths: [".env", "none.txt"] }, true, "error", "C211", undefined],
  ["coder_read_file", { paths: ["a.txt", ".env", "none.txt"] }, true, "ok", "C211", 2],
  ["coder_read_file", { path: ".env" }, true, "error", "C211", undefined],
  ["shell_exec", { command: "nmap" }, true, "error", "S215", undefined],
  ["shell_exec", { command: "'" }, true, "error", "S210", undefined],
];

test("a call that failed, as a whole or in every entry, is an error in all records", async () => {
  const settings = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const file = join(settings, "audit.jsonl");
  const collector = new TestCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await collector.listen(), OTEL_BSP_SCHEDULE_DELAY: "10" };
  const config = { audit: { file }, profile: "auto" };
  try {
    await using served = await connectStdio("executable", {
      tree: { "a.txt": "one\n" },
      args: ["--commands", "--allow", "sh", "--tools", "all"],
      config,
      env,
    });
    const seen: unknown[] = [];
    for (const [tool, given] of cases)
      seen.push((await served.call(tool, given as Record<string, unknown>)).isError === true);
    expect(seen).toEqual(cases.map(([, , isError]) => isError));
    const expected = cases.map(([, , , ...rest]) => rest);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => reported(JSON.parse(line)))).toEqual(expected);
    await served.client.close();
    const logged = served
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"message":"call"'));
    expect(logged.map((line) => reported(JSON.parse(line)))).toEqual(expected);
    await collector.until(() => collector.spans.length >= cases.length);
    const spans = collector.spans.map(({ attributes }) => attributesOf(attributes));
    expect(
      spans.map((span) => [span["coder.outcome"], span["error.type"], span["coder.failed_entries"]]),
    ).toEqual(expected.map(([outcome, code, failed]) => [outcome, failed ? undefined : code, failed]));
  } finally {
    collector.close();
    rmSync(settings, { recursive: true });
  }
});
