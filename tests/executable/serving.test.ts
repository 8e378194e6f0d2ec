import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { startEngine } from "../../src/embedded-engine/engine.ts";
import { type Artifacts, callArtifact, installArtifacts, startArtifact } from "./artifacts.ts";

let artifacts: Artifacts;

beforeAll(async () => {
  artifacts = await installArtifacts();
  mkdirSync(join(artifacts.folder, "base"));
});

beforeEach(() => writeFileSync(join(artifacts.folder, "base/tea.txt"), "green\nblack\n"));

afterAll(() => artifacts?.[Symbol.dispose]());

const calls = [
  ["coder::read-file", { path: "tea.txt" }, { content: "green\nblack\n" }],
  ["coder::search", { query: "bl[a-c]", regex: true }, { content_matches: [{ path: "tea.txt", line: 2 }] }],
  [
    "coder::update-file",
    { files: [{ path: "tea.txt", ops: [{ op: "insert", at_line: 3, content: "white" }] }] },
    {},
  ],
] as const;

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

describe.each(["executable", "bundle"] as const)("the %s serves", (artifact) => {
  test("calls that come through an engine, until SIGTERM", async () => {
    const engine = await startEngine();
    const worker = startArtifact(artifacts[artifact], ["--url", engine.url, "--base-path", "base"], {
      cwd: artifacts.folder,
    });
    try {
      await engine.waitForFunction("coder::create-file");
      for (const [id, payload, answer] of calls) expect(await engine.call(id, payload)).toMatchObject(answer);
      worker.kill("SIGTERM");
      expect(await worker.exited).toBe(0);
      expect(await worker.stdout.text()).toBe("");
    } finally {
      worker.kill("SIGKILL");
      await engine.stop();
    }
  });

  test("calls that come through its own engine, until SIGTERM", async () => {
    const port = await freePort();
    const url = `ws://127.0.0.1:${port}`;
    const flags = ["--engine", `embedded:${port}`, "--base-path", "base"];
    const worker = startArtifact(artifacts[artifact], flags, { cwd: artifacts.folder });
    try {
      const ended = await callArtifact(
        artifacts[artifact],
        ["coder::read-file", '{"path":"tea.txt"}', url],
        artifacts.folder,
      );
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(ended.stdout)).toMatchObject({ path: "tea.txt" });
      worker.kill("SIGTERM");
      expect(await worker.exited).toBe(0);
      expect(await worker.stdout.text()).toBe("");
    } finally {
      worker.kill("SIGKILL");
    }
  });
});
