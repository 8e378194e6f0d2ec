/** Quotas and the audit trail, which operators configure for all calls (coder §21). */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseWireError } from "../harness/errors.ts";
import { defaultSubjects, runCoder } from "../harness/subject.ts";
import { withWorker } from "../harness/with-worker.ts";
import { connectClient, temporaryFolder } from "../harness/worker-fixture.ts";

const text = "x".repeat(200);
const read = { function_id: "coder::read-file", payload: { path: "a.txt" } };

const hashOf = (line: string) => `sha256:${createHash("sha256").update(line).digest("hex")}`;

test.each(defaultSubjects)(
  "%s: a caller over its quota is told when to come back, and others are served",
  async (subject) => {
    await withWorker(
      subject,
      async ({ build, client, engine }) => {
        build({ "a.txt": text });
        expect(await client.trigger(read)).toMatchObject({ content: text });
        const thrown = await client.trigger(read).catch((error: unknown) => error);
        const { code, reason, message, details } = parseWireError(thrown as { message: string });
        expect([code, reason]).toEqual(["C223", "quota_exceeded"]);
        expect(message).toMatch(/bytes_per_minute \(150\).*Send it again in \d+ ms/);
        expect(details).toMatchObject({ quota: "bytes_per_minute", limit: 150 });
        expect(details!["retry_after_ms"]).toBeGreaterThan(1000);
        const other = connectClient(engine.url);
        expect(await other.trigger(read)).toMatchObject({ content: text });
        await other.shutdown();
        const url = ["--url", engine.url];
        const calls = [];
        for (let time = 0; time < 2; time++)
          calls.push(
            await runCoder(subject, ["call", read.function_id, JSON.stringify(read.payload), ...url]),
          );
        expect(calls.map(({ code }) => code)).toEqual([0, 1]);
        expect(calls[1]!.stderr).toContain("bytes_per_minute");
      },
      { config: { quotas: { bytes_per_minute: 150 } } },
    );
  },
);

test.each(defaultSubjects)(
  "%s: each call leaves a line for its caller, chained to the one before",
  async (subject) => {
    const folder = temporaryFolder();
    const file = join(folder, "audit.jsonl");
    await withWorker(
      subject,
      async ({ build, client }) => {
        build({ "a.txt": text });
        await client.trigger(read);
        const files = [{ path: "n", content: "secret" }];
        await client.trigger({ function_id: "coder::create-file", payload: { files } });
        await client.trigger({ ...read, payload: { path: ".env" } }).catch(() => {});
        const info = (await client.trigger({ function_id: "coder::info", payload: {} })) as {
          audit: { newest: string };
        };
        const lines = readFileSync(file, "utf8").trimEnd().split("\n");
        const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
        expect(
          parsed.map((line) => [line["function"], line["outcome"], line["code"], line["paths"]]),
        ).toEqual([
          ["coder::read-file", "ok", undefined, ["a.txt"]],
          ["coder::create-file", "ok", undefined, ["n"]],
          ["coder::read-file", "error", "C211", [".env"]],
          ["coder::info", "ok", undefined, []],
        ]);
        expect(new Set(parsed.map(({ caller }) => caller)).size).toBe(1);
        expect(parsed[0]!["caller"]).toBeString();
        expect(parsed.slice(1).map(({ previous }) => previous)).toEqual(lines.slice(0, -1).map(hashOf));
        expect(info.audit.newest).toBe(hashOf(lines[2]!));
        expect(lines.join("\n")).not.toContain("secret");
      },
      { config: { audit: { file } } },
    );
    rmSync(folder, { recursive: true });
  },
);
