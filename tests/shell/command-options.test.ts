/** The fields of commands that came after version 0.3.5 of shell. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf, expectCode, expectPlain, waitForJob } from "./case.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

const config = {
  allowlist: ["sh", "cat", "env", "pwd"],
  allowed_env: ["PATH", "LANG"],
  max_output_bytes: 4096,
  fs: { host_root: "<folder>", denylist_paths: ["<folder>/denied"] },
};

describe.each(defaultSubjects.flatMap((subject) => [[subject, "off"] as const, [subject, "best"] as const]))(
  "%s, os_sandbox %s",
  (subject, os_sandbox) => {
    let served: ShellFixture;
    const at = (path: string) => join(served.folder, path);
    beforeAll(async () => {
      served = await startShell(subject, { ...config, os_sandbox });
      for (const folder of ["sub", "denied"]) mkdirSync(at(folder));
      writeFileSync(at("file"), "");
      symlinkSync("/etc", at("out"));
    });
    afterAll(() => served.stop());

    const exec = async (payload: object) => answerOf(await served.call("shell::exec", payload));

    /** Runs a command in the foreground and in the background. Returns both results. */
    async function both(payload: object): Promise<Record<string, unknown>[]> {
      const { job_id } = answerOf(await served.call("shell::exec_bg", payload));
      return [await exec(payload), await waitForJob(served, job_id)];
    }

    test("cwd is the folder that it runs in", async () => {
      for (const answer of await both({ command: "sh", args: ["-c", "pwd -P"], cwd: at("sub") })) {
        expect(answer).toMatchObject({ exit_code: 0, stdout: `${at("sub")}\n` });
      }
      expect(await exec({ command: "sh", args: ["-c", "pwd -P"], cwd: null })).toMatchObject({
        exit_code: 0,
      });
    });

    test.each([
      ["missing", "S211"],
      ["file", "S212"],
      ["denied", "S215"],
      ["out", "S215"],
      ["..", "S215"],
    ])("cwd %s is refused with %s", async (path, code) => {
      expectCode(await served.call("shell::exec", { command: "pwd", cwd: at(path) }), code);
      expectCode(await served.call("shell::exec_bg", { command: "pwd", cwd: at(path) }), code);
    });

    test("env is added to the variables of the worker, and replaces them", async () => {
      for (const answer of await both({ command: "env", env: { ONE: "1 = é", LANG: "C" } })) {
        expect(answer).toMatchObject({ exit_code: 0 });
        expect(String(answer["stdout"]).split("\n")).toEqual(expect.arrayContaining(["ONE=1 = é", "LANG=C"]));
      }
    });

    test.each([
      "PATH",
      "HOME",
      "IFS",
      "LD_PRELOAD",
      "DYLD_INSERT_LIBRARIES",
      "BASH_ENV",
      "NODE_OPTIONS",
      "GIT_DIR",
      "GIT_AUTHOR_NAME",
      "npm_config_script_shell",
      "TMPDIR",
      "III_URL",
      "CODER_TOKEN",
      "1A",
      "A-B",
      "",
      "A=B",
    ])("env does not take %j", async (name) => {
      expectPlain(await served.call("shell::exec", { command: "env", env: { [name]: "x" } }), "env holds");
      expectPlain(await served.call("shell::exec_bg", { command: "env", env: { [name]: "x" } }), "env holds");
    });

    test("env has no more variables than a program gets at once", async () => {
      const env = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`V${index}`, ""]));
      const refusal = "'env' has 20001 entries, and may have 20000; send fewer.";
      expectPlain(await served.call("shell::exec", { command: "env", env }), refusal);
      expectPlain(await served.call("shell::exec_bg", { command: "env", env }), refusal);
    });

    test("stdin is what it reads, all of it, and nothing without it", async () => {
      for (const answer of await both({ command: "cat", stdin: "one\ntwo é\0" })) {
        expect(answer).toMatchObject({ exit_code: 0, stdout: "one\ntwo é\0" });
      }
      expect(await exec({ command: "cat", stdin: "" })).toMatchObject({ stdout: "" });
      expect(await exec({ command: "cat" })).toMatchObject({ stdout: "" });
      const large = { command: "sh", args: ["-c", "wc -c"], stdin: "x".repeat(1_000_000) };
      expect(await exec(large)).toMatchObject({ stdout: expect.stringContaining("1000000") });
    });

    test("what does not read its stdin ends as usual", async () => {
      const payload = { command: "sh", args: ["-c", "exit 3"], stdin: "x".repeat(1_000_000) };
      for (const answer of await both(payload)) expect(answer).toMatchObject({ exit_code: 3 });
    });

    test("max_output_bytes keeps the beginning and the end, and says what is left out", async () => {
      const script = "printf 'begin%05000dend' 0; printf 'begin%0100dend' 0 >&2";
      const payload = { command: "sh", args: ["-c", script], max_output_bytes: 20 };
      for (const answer of await both(payload)) {
        expect(answer).toMatchObject({
          stdout: "begin00000\n[4988 bytes left out]\n0000000end",
          stdout_truncated: true,
          stderr: "begin00000\n[88 bytes left out]\n0000000end",
        });
      }
    });

    test("max_output_bytes is at most that of the configuration", async () => {
      const payload = { command: "sh", args: ["-c", "printf '%05000d' 0"], max_output_bytes: 1_000_000 };
      const { stdout } = await exec(payload);
      expect(stdout).toBe(`${"0".repeat(2048)}\n[904 bytes left out]\n${"0".repeat(2048)}`);
    });

    test.each(["cwd", "env", "stdin", "max_output_bytes"])("%s of a wrong type is refused", async (field) => {
      const payload = { command: "pwd", [field]: [1] };
      expectPlain(await served.call("shell::exec", payload), field);
      expectPlain(await served.call("shell::exec_bg", payload), field);
    });

    test("a command for another worker takes none of them", async () => {
      const target = { kind: "sandbox", sandbox_id: "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9" };
      const payload = { command: "pwd", target, stdin: "x" };
      expectPlain(await served.call("shell::exec", payload), "'stdin' is for commands on the host");
      expectPlain(await served.call("shell::exec_bg", payload), "'stdin' is for commands on the host");
    });
  },
);
