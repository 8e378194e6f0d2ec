import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEngine } from "../../src/embedded-engine/engine.ts";
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

  test("draws with colours unless NO_COLOR is set or the terminal has none", async () => {
    const call = ["call", "search", '{"query":"two"}', ...base];
    const shown = async (env: Readonly<Record<string, string>>) =>
      (await runInTerminal(subject, call, here, env)).text;
    const coloured =
      "\u001b[35ma.txt\u001b[39m\n\u001b[32m2\u001b[39m\u001b[2m→\u001b[22m\u001b[31mtwo\u001b[39m\n";
    // On a slow machine, progress precedes the answer.
    expect(await shown({ TERM: "xterm" })).toEndWith(coloured);
    expect(await shown({ TERM: "xterm", NO_COLOR: "1" })).toEndWith("a.txt\n2→two\n");
    expect(await shown({})).toBe("a.txt\n2→two\n");
    expect(await shown({ FORCE_COLOR: "1" })).toBe(coloured);
    expect(
      await runInTerminal(subject, ["call", "read-file", '{"path":"none"}', ...base], here, {
        FORCE_COLOR: "1",
      }),
    ).toEqual({
      code: 1,
      text: expect.stringMatching(/^\u001b\[31mC211 no_such_path\u001b\[39m: "none" is not found/),
    });
  });

  test("draws folders in columns, with dates and ages", async () => {
    utimesSync(join(here, "base/a.txt"), 0, 1_700_000_000);
    const row = /^\s*8 {2}2023-11-14 22:13 {2}[23] years ago +a\.txt$/m;
    expect((await inTerminal("list-folder", "{}", ...base)).text).toMatch(row);
    const { text } = await inTerminal("shell::fs::ls", JSON.stringify({ path: join(here, "base") }), ...base);
    expect(text).toMatch(/^0\d{3} {2}\s*8 {2}2023-11-14 22:13 {2}[23] years ago +a\.txt$/m);
    const stat = { path: join(here, "base/a.txt") };
    expect((await inTerminal("shell::fs::stat", JSON.stringify(stat), ...base)).text).toMatch(
      /^mtime +2023-11-14 22:13 \([23] years ago\)$/m,
    );
    const grep = { path: join(here, "base"), pattern: "tw." };
    expect((await inTerminal("shell::fs::grep", JSON.stringify(grep), ...base)).text).toBe(
      `${join(here, "base/a.txt")}\n2→two\n`,
    );
    const sed = { files: [join(here, "base/a.txt")], pattern: "none", replacement: "" };
    expect((await inTerminal("shell::fs::sed", JSON.stringify(sed), ...base)).text).toBe(
      `${join(here, "base/a.txt")}: 0 replacements\n[0 replacements in all]\n`,
    );
    expect((await inTerminal("shell::list", "{}", ...base)).text).toBe("[no jobs]\n");
  });

  test("shows that a long call is running, and removes that again", async () => {
    const sleeps = { command: "sleep", args: ["1"] };
    const config = join(here, "sleep.yaml");
    writeFileSync(config, "allowlist: [sleep]\n");
    const call = ["call", "shell::exec", JSON.stringify(sleeps), "--config", config, ...base];
    const { code, text } = await runInTerminal(subject, call, here, { TERM: "xterm", NO_COLOR: "1" });
    expect(code).toBe(0);
    expect(text).toMatch(/shell::exec \d\.\d s/);
    expect(text).toMatch(/\[exit code 0, [^\]]*\]\n$/);
  });

  test("addresses a person, who has no user to ask", async () => {
    const { code, text } = await runInTerminal(subject, ["undo", ...base], here);
    expect(code).toBe(1);
    expect(text).toMatch(/ Set `journal\.dir` in the configuration/);
    expect(text).not.toContain("the user");
  });

  test("names the undo that works where each command line is another caller", async () => {
    const config = join(here, "journal.yaml");
    writeFileSync(config, `base_path: undone\njournal: { dir: ${join(here, "state")} }\nprofile: agent\n`);
    mkdirSync(join(here, "undone"));
    const engine = await startEngine();
    const worker = startCoder(subject, ["--config", config, "--url", engine.url], { cwd: here });
    const inEngine = async (...args: string[]) => {
      const { text } = await runInTerminal(subject, [...args, "--url", engine.url], here);
      return text;
    };
    try {
      await engine.waitForFunction("coder::undo");
      await inEngine("call", "create-file", '{"files":[{"path":"b.txt","content":""}]}');
      expect(await inEngine("undo")).toContain("Run `coder undo 1` with the same options to undo that one.");
      expect(await inEngine("undo", "1")).toContain("Undone; `coder undo 2` takes this undo back.");
      expect(await inEngine("undo", "2")).toContain("Undone; `coder undo 3` takes this undo back.");
      expect(await inEngine("undo", "9")).toContain("List what can be undone with `coder checkpoints`.");
      expect(await inEngine("checkpoints", "none")).toBe("Nothing is recorded at none.\n");
      await inEngine("call", "delete-file", '{"paths":["b.txt"]}');
      expect(await inEngine("call", "read-file", '{"path":"b.txt"}')).toContain(
        "It was deleted by #4; `coder undo 4` brings it back.",
      );
    } finally {
      worker.child.kill("SIGTERM");
      await worker.exited;
      await engine.stop();
      rmSync(join(here, "undone"), { recursive: true });
    }
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
