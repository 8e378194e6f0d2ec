import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuditFile } from "./audit-file.ts";
import { verifyTrail } from "./verify.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-verify-"));
afterAll(() => rmSync(folder, { recursive: true }));

let trails = 0;

/** Writes a trail of `count` lines. Returns the path of its newest file. */
function trailOf(count: number, bounds = { maxBytes: 1_000_000, keep: 2 }): string {
  const path = join(folder, `${++trails}.jsonl`);
  const file = new AuditFile(path, bounds);
  for (let number = 0; number < count; number++)
    file.append({ time: new Date(0).toISOString(), function: "coder::info", outcome: "ok", number });
  file.close();
  return path;
}

/** Removes lines from the beginning of a file. */
function behead(path: string, count: number): void {
  const lines = readFileSync(path, "utf8").split("\n");
  writeFileSync(path, lines.slice(count).join("\n"));
}

test("a text that is no audit trail is not genuine, however short", () => {
  const hash = `sha256:${"0".repeat(64)}`;
  const real = { time: new Date(0).toISOString(), function: "coder::info", outcome: "ok", previous: hash };
  for (const text of [
    "line one",
    "{}",
    "null",
    "[]",
    JSON.stringify({ previous: hash }),
    JSON.stringify({ ...real, time: "soon" }),
    JSON.stringify({ ...real, function: undefined }),
    JSON.stringify({ ...real, outcome: "fine" }),
    JSON.stringify({ ...real, previous: "sha256:0" }),
  ]) {
    const path = join(folder, "text");
    writeFileSync(path, `${text}\n`);
    const { status, text: verdict } = verifyTrail(path);
    expect([status, verdict]).toEqual([3, expect.stringContaining(`${path}:1 is not a line`)]);
  }
});

test("lines that were removed from the beginning show", () => {
  const path = trailOf(14);
  expect(verifyTrail(path).status).toBe(0);
  behead(path, 5);
  expect(verifyTrail(path)).toMatchObject({
    status: 3,
    text: expect.stringContaining(`${path}:1 follows a line that is missing`),
  });
});

test("files that rotation dropped are explained by the line after them, and removed lines are not", () => {
  for (const keep of [0, 2]) {
    const path = trailOf(40, { maxBytes: 1000, keep });
    const oldest = keep === 0 ? path : `${path}.${keep}`;
    expect(verifyTrail(path)).toMatchObject({
      status: 0,
      text: expect.stringContaining("Older lines are no longer kept."),
    });
    behead(oldest, 1);
    expect(verifyTrail(path)).toMatchObject({
      status: 3,
      text: expect.stringContaining(`${oldest}:1 follows a line that is missing`),
    });
  }
});

test("a set whose first file is kept begins with the first line", () => {
  const path = trailOf(3);
  renameSync(path, `${path}.1`);
  const file = new AuditFile(path, { maxBytes: 1_000_000, keep: 2 });
  file.close();
  expect(verifyTrail(path)).toMatchObject({ status: 0, text: expect.not.stringContaining("Older") });
});
