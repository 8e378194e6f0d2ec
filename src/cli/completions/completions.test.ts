import { describe, expect, test } from "bun:test";
import { flagNames } from "../../config/arguments/flags.ts";
import { renderManual } from "../man.ts";
import { renderCompletions } from "./completions.ts";

const words = { call: ["tree", "read-file"], setup: ["cursor", "codex"], audit: ["verify"] };

describe("bash completes", () => {
  /** Returns the words that bash offers for the last word of a line. */
  async function offered(line: string): Promise<string[]> {
    const script = await renderCompletions("bash", "coder", words);
    const typed = line.split(" ");
    const { stdout, stderr } = Bun.spawnSync([
      "bash",
      "-c",
      `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _coder; printf '%s\\n' "\${COMPREPLY[@]}"`,
      "bash",
      ...typed,
    ]);
    expect(stderr.toString()).toBe("");
    return stdout.toString().split("\n").filter(Boolean);
  }

  test.each([
    ["coder m", ["mcp"]],
    ["coder call re", ["read-file"]],
    ["coder setup c", ["cursor", "codex"]],
    ["coder --base-path . setup cu", ["cursor"]],
    ["coder mcp --log-level w", ["warn"]],
    ["coder mcp --config x", []],
    ["coder setup cursor --pr", ["--print", "--print-schema"]],
    ["coder mcp --http 1 --no", ["--no-token"]],
    ["coder call tree --str", []],
  ])("%s", async (line, expected) => {
    expect(await offered(line)).toEqual(expected);
  });

  test("every flag, for the commands that take it", async () => {
    const all = await Promise.all(
      ["coder --", "coder call --", "coder mcp --", "coder setup x --", "coder review --"].map(offered),
    );
    expect([...new Set(all.flat())].sort()).toEqual(flagNames.map((name) => `--${name}`).sort());
    expect(all[1]).not.toContain("--http");
  });
});

test.each(["zsh", "fish"] as const)("the script of %s has every flag and every word", async (shell) => {
  const script = await renderCompletions(shell, "coder", words);
  for (const name of flagNames) expect(script).toContain(name);
  for (const word of Object.values(words).flat()) expect(script).toContain(word);
});

test("the manual has every flag, and no line that roff would take as a request by mistake", () => {
  const manual = renderManual("coder");
  for (const name of flagNames) expect(manual).toContain(`\\fB\\-\\-${name.replaceAll("-", "\\-")}\\fR`);
  const requests = manual.split("\n").filter((line) => /^[.']/.test(line));
  for (const line of requests) expect(line).toMatch(/^\.(TH|SH|TP|nf|fi)\b/);
});
