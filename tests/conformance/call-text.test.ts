import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEngine } from "../../src/engine/engine.ts";
import { defaultSubjects, runCoder, startCoder } from "../harness/subject.ts";
import { runInTerminal } from "../harness/terminal.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

const here = temporaryFolder();
mkdirSync(join(here, "base"));
writeFileSync(join(here, "base/a.txt"), "one\ntwo\n");
writeFileSync(join(here, "base/sly.txt"), "\u001b[2Jgone\u0007\rnot\n");
afterAll(() => rmSync(here, { recursive: true }));

const base = ["--base-path", join(here, "base")];

describe.each(defaultSubjects)("coder call of the %s", (subject) => {
  const inTerminal = (...args: string[]) => runInTerminal(subject, ["call", ...args], here);

  test.each([
    ["read-file", '{"path":"a.txt"}', "one\ntwo\n"],
    ["search", '{"query":"two"}', "a.txt\n2→two\n"],
    ["tree", "{}", "base/\n  a.txt\n  sly.txt\n"],
  ])("prints the answer of %s as text in a terminal", async (name, payload, text) => {
    expect(await inTerminal(name, payload, ...base)).toEqual({ code: 0, text });
  });

  test("prints it as JSON with --json, and where no one looks", async () => {
    const call = ["read-file", '{"path":"a.txt"}', ...base];
    const { text } = await inTerminal(...call, "--json");
    const { stdout } = await runCoder(subject, ["call", ...call], { cwd: here });
    expect(text).toBe(stdout);
    expect(JSON.parse(stdout)).toMatchObject({ content: "one\ntwo\n" });
  });

  test("prints what commands a terminal in a form that does not", async () => {
    expect(await inTerminal("read-file", '{"path":"sly.txt"}', ...base)).toEqual({
      code: 0,
      text: "\\u001b[2Jgone\\u0007\\rnot\n",
    });
  });

  test("prints an error as text in a terminal, and as JSON elsewhere", async () => {
    const call = ["read-file", '{"path":"none"}', ...base];
    const error = /^C211 no_such_path: "none" is not found, .* coder::list-folder .*\n$/;
    expect(await inTerminal(...call)).toEqual({ code: 1, text: expect.stringMatching(error) });
    const { stderr } = await runCoder(subject, ["call", ...call], { cwd: here });
    expect(JSON.parse(stderr)).toMatchObject({ code: "C211", reason: "no_such_path" });
  });

  test("prints text through an engine too, and JSON for functions that it does not know", async () => {
    const engine = await startEngine();
    const worker = startCoder(subject, [...base, "--url", engine.url]);
    try {
      await engine.waitForFunction("coder::read-file");
      const url = ["--url", engine.url];
      const known = await inTerminal("read-file", '{"path":"a.txt"}', ...url);
      expect(known).toEqual({ code: 0, text: "one\ntwo\n" });
      const other = await inTerminal("engine::functions::list", "{}", ...url);
      expect(JSON.parse(other.text)).toHaveProperty("functions");
      expect((await inTerminal("read-file", '{"path":"none"}', ...url)).text).toStartWith(
        "C211 no_such_path: ",
      );
    } finally {
      worker.child.kill("SIGTERM");
      await worker.exited;
      await engine.stop();
    }
  });
});
