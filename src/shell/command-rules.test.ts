import { describe, expect, test } from "bun:test";
import { type CommandRules, describeCommands } from "./command-rules.ts";
import { defaultShellConfig } from "./config.ts";
import { shellProfileOf } from "./profiles.ts";

const config = defaultShellConfig();
const rules: CommandRules = {
  config,
  profile: shellProfileOf(config, true),
  confined: { network: "loopback", holdsFiles: true },
  denylist: [String.raw`rm\s+/`],
  hidden: ["**/.env", "**/*.pem"],
};

describe("the rules of commands", () => {
  test("have a line for each thing that a model would learn by breaking it, at most eight", () => {
    const lines = describeCommands(rules);
    expect(lines.length).toBeLessThanOrEqual(8);
    for (const text of [
      "ls, cat",
      "$TMPDIR",
      "**/.env",
      "127.0.0.1",
      "10 s",
      "30 s",
      "64 KiB",
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
    const none = describeCommands({ ...rules, confined: { network: "none", holdsFiles: true } }).join("\n");
    expect(none).toContain("neither listen nor connect");
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
