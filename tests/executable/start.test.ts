import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { root } from "../../scripts/build.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { type Artifact, callArtifact, runArtifact } from "./artifacts.ts";

/** Reads the output of a program until it matches, and returns the match. */
async function printed(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<RegExpMatchArray> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    const match = text.match(pattern);
    if (match !== null) return match;
  }
  throw new Error(`It ended without printing ${pattern}: ${text}`);
}

test("the sources start without a build, and threads with them", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.txt"), "needle\n");
  const artifact = { command: [process.execPath, join(root, "src/main.ts")] };
  const run = (...args: string[]) => runArtifact(artifact, args, { cwd: folder });
  expect(await run("--version")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^coder \d/) });
  const { stdout } = await run("call", "coder::search", '{"query":"n.edle","regex":true}');
  expect(JSON.parse(stdout)).toMatchObject({ content_matches: [{ path: "a.txt" }] });
  rmSync(folder, { recursive: true });
});

test("npm start shows the sample over MCP and serves it on the bus, and the call it prints works", async () => {
  // Takes the usual port, unless another program has it already.
  const taken = createServer();
  await new Promise<void>((resolve) =>
    taken.once("error", () => resolve()).listen(49134, "127.0.0.1", resolve),
  );
  const started = Bun.spawn([process.execPath, "scripts/start.ts"], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const [, before = "", program = "", payload = "", url = ""] = await printed(
      started.stdout,
      /^([\s\S]*)\n {2}(\S+) call coder::read-file '(.*)' --url (ws:\S+)\n/,
    );
    expect(before).toContain("Port 49134 is taken");
    for (const shown of ["coder_list_folder", "notes/todo.md\n    4→", "C211"])
      expect(before).toContain(shown);
    const [page = ""] = before.match(/http:\/\/127\.0\.0\.1:\S+/) ?? [];
    const entered = await fetch(page, { redirect: "manual" });
    expect([entered.status, entered.headers.get("set-cookie")]).toEqual([
      303,
      expect.stringContaining("HttpOnly"),
    ]);
    const caller: Artifact = { name: "executable", command: [join(root, program)] };
    const answer = await callArtifact(caller, ["coder::read-file", payload, url], root);
    expect(JSON.parse(answer.stdout)).toMatchObject({ path: "README.md" });
    const denied = await callArtifact(caller, ["coder::read-file", '{"path":".env"}', url], root);
    expect(denied.stderr).toContain("C211");
    started.kill("SIGINT");
    expect(await started.exited).toBe(0);
  } finally {
    started.kill("SIGKILL");
    taken.close();
  }
});
