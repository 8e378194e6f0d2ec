import { describe, expect, test } from "bun:test";
import { autorunGlobs } from "../filesystem/jail/autorun.ts";
import { type CommandRules, describeCommands } from "./command-rules.ts";
import { defaultShellConfig } from "./config.ts";
import { shellProfileOf } from "./profiles.ts";

const config = defaultShellConfig();
const rules: CommandRules = {
  config,
  profile: shellProfileOf(config, true),
  confined: { network: "loopback", holdsFiles: true, keepsFiles: true },
  roots: undefined,
  denylist: [String.raw`rm\s+/`],
  hidden: ["**/.env", "**/*.pem"],
  kept: autorunGlobs,
};

describe("the rules of commands", () => {
  test("have a line for each thing that a model would learn by breaking it, at most eight", () => {
    const lines = describeCommands(rules);
    expect(lines.length).toBeLessThanOrEqual(8);
    for (const text of [
      "ls, cat",
      "$TMPDIR",
      "**/.env",
      ".git/hooks",
      "127.0.0.1",
      "10 s",
      "30 s",
      "64 KiB",
      "8 KiB",
      "16 at once",
      String.raw`/rm\s+/`,
    ])
      expect(lines.join("\n")).toContain(text);
    expect(lines.join("").length).toBeLessThan(1700);
  });

  test("say what is not there", () => {
    const { confined: _, ...others } = rules;
    const lines = describeCommands({
      ...others,
      confined: undefined,
      config: { ...config, allowlist: [] },
      denylist: [],
    }).join("\n");
    for (const text of ["Every program", "whatever the user can", "may use the network"])
      expect(lines).toContain(text);
    for (const text of ["Hidden", "127.0.0.1", "Refused"]) expect(lines).not.toContain(text);
    const none = describeCommands({
      ...rules,
      confined: { network: "none", holdsFiles: true, keepsFiles: true },
    }).join("\n");
    expect(none).toContain("neither listen nor connect");
  });

  test("name the roots that commands write, and those that they only read", () => {
    const line = (writable: string[], readOnly: string[]) =>
      describeCommands({ ...rules, roots: { writable, readOnly } })[1]!;
    expect(line(["app", "lib"], ["docs"])).toStartWith(
      "Commands write below the roots app, lib and $TMPDIR,",
    );
    expect(line(["app", "lib"], ["docs"])).toContain(" The root docs is read-only for them.");
    expect(line(["app"], ["docs", "data"])).toStartWith("Commands write below the root app and $TMPDIR,");
    expect(line(["app"], ["docs", "data"])).toContain(" The roots docs, data are read-only for them.");
    expect(line([], ["docs"])).toStartWith("Commands write below $TMPDIR,");
    expect(line(["app"], [])).not.toContain("for them. Files");
  });

  test("say what commands cannot change, or that nothing keeps them from it", () => {
    const open = { network: "loopback", holdsFiles: true, keepsFiles: false } as const;
    const lines = (change: Partial<CommandRules>) => describeCommands({ ...rules, ...change })[1];
    expect(lines({ kept: ["docs/**"] })).toContain(
      " Read-only for them, where it exists: docs/**. Make nothing new that matches: the answer would name it. Undo",
    );
    expect(lines({ kept: [] })).toContain(" HOME is a private folder of theirs. Undo does not take back");
    expect(lines({ confined: open })).toContain(
      " Nothing keeps them from files that other programs run by themselves (.git/hooks, .vscode and the like): leave those alone unless the user asks.",
    );
    expect(lines({ confined: open, kept: ["docs/**"] })).toContain("that calls may not change (docs/**)");
  });

  test("name the time that a job has", () => {
    const lines = (max_job_secs: number) =>
      describeCommands({ ...rules, config: { ...config, max_job_secs } }).join("\n");
    expect(lines(0)).toContain("; in the background without a limit, at most 16 at once.");
    expect(lines(7200)).toContain("; in the background at most 7200 s, at most 16 at once.");
    expect(lines(7200)).not.toContain("without a limit");
  });

  test("count what is too much to list", () => {
    const many = Array.from({ length: 100 }, (_, index) => `tool-${index}`);
    expect(describeCommands({ ...rules, config: { ...config, allowlist: many }, hidden: many })).toEqual(
      expect.arrayContaining([
        expect.stringContaining("and 60 more"),
        expect.stringContaining("and 92 more"),
      ]),
    );
  });
});
