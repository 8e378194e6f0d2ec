import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSubjects, runCoder, type Subject } from "../harness/subject.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";

const here = temporaryFolder();
const base = join(here, "base");
mkdirSync(join(base, "sub"), { recursive: true });
writeFileSync(join(base, "a.txt"), "a\n");
symlinkSync("base", join(here, "link"));
afterAll(() => rmSync(here, { recursive: true }));

let count = 0;

/** Writes a configuration file with this text, and returns its path. */
function fileOf(text: string): string {
  const file = join(here, `config-${count++}.yaml`);
  writeFileSync(file, text);
  return file;
}

/** Expects the worker to refuse the file: it exits by itself, with one sentence of these words on stderr. */
async function expectRefusal(subject: Subject, file: string, words: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runCoder(subject, ["--config", file, "--url", "ws://127.0.0.1:9"], {
    cwd: here,
  });
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(words.filter((word) => !stderr.includes(word))).toEqual([]);
}

const numbers = [
  "max_read_bytes",
  "max_write_bytes",
  "tree_default_depth",
  "tree_per_folder_limit",
  "list_default_page_size",
  "list_max_page_size",
  "search_default_max_matches",
  "search_default_max_line_bytes",
];

const wrong: readonly (readonly [text: string, ...words: string[]])[] = [
  ...numbers.flatMap((key) => ["ten", "1.5", "0"].map((value) => [`${key}: ${value}`, key] as const)),
  ...["[1]", "-1", "1e30", "null", "'10'", "10 MiB"].map(
    (value) => [`max_read_bytes: ${value}`, "max_read_bytes"] as const,
  ),
  ["base_path: 7", "base_path", "string"],
  ["base_path: [a]", "base_path"],
  ["non_accessible_globs: '**/.env'", "non_accessible_globs", "array"],
  ["non_accessible_globs: {a: b}", "non_accessible_globs"],
  ["non_accessible_globs: null", "non_accessible_globs"],
  ["non_accessible_globs: ['**/.env', 7]", "non_accessible_globs", "1"],
  ["non_accessible_globs: ['**/.env', '[a']", "non_accessible_globs", "[a"],
  ["non_accessible_globs: ['{a,b']", "non_accessible_globs", "{a,b"],
  ["fsync: often", "fsync"],
  ["call_timeout_ms: 0", "call_timeout_ms"],
  ["non_accessible_glob: []", "non_accessible_glob"],
  ["max_read_bytes: 10\nMax_Read_Bytes: 10", "Max_Read_Bytes"],
  ["__proto__: {max_read_bytes: 1}", "__proto__"],
  ["max_read_bytes: 10\nmax_read_bytes: 20", "unique", "line 2"],
  ["base_path: ${CODER_TEST_UNSET}", "base_path", "CODER_TEST_UNSET"],
  ["base_path: [", "YAML"],
  ["\tmax_read_bytes: 10", "YAML"],
  ["just words", "mapping"],
  ["7", "mapping"],
  ["[]", "mapping"],
  ["# nothing but a comment", "mapping"],
  ["- max_read_bytes: 10\n- max_write_bytes: 10", "mapping"],
  ["- max_read_bytes", "mapping"],
];

/** Returns the texts to try. A start from source takes ten times as long, so it tries only every fifth. */
const sampleFor = (subject: Subject) =>
  wrong.filter((_, index) => subject === "executable" || index % 5 === 0);

describe.each(defaultSubjects)("%s", (subject) => {
  test.each(sampleFor(subject).map(([text, ...words]) => [text, words] as const))(
    "%j is refused",
    async (text, words) => {
      const file = fileOf(text);
      await expectRefusal(subject, file, [file, ...words]);
    },
  );

  test.each(["missing-folder", "base/a.txt"])("a base_path of %s is refused", async (folder) => {
    await expectRefusal(subject, fileOf(`base_path: ${folder}`), ["base_path", folder]);
  });

  test("a file that is missing is refused", async () => {
    await expectRefusal(subject, join(here, "none.yaml"), ["none.yaml"]);
  });

  test("a folder in place of the file is refused", async () => {
    await expectRefusal(subject, base, [base]);
  });

  test("a file that is not UTF-8 is refused", async () => {
    const file = join(here, "latin1.yaml");
    writeFileSync(file, Buffer.from("base_path: b\xe4se", "latin1"));
    await expectRefusal(subject, file, [file, "UTF-8"]);
  });

  const seen = async (text: string, env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await runCoder(
      subject,
      ["call", "coder::list-folder", "{}", "--config", fileOf(text)],
      { cwd: here, env },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return (JSON.parse(stdout) as { entries: { name: string }[] }).entries.map((entry) => entry.name);
  };

  test.each([
    ["a mapping", "base_path: base"],
    ["a list that holds the one mapping", "- base_path: base\n  max_read_bytes: 10"],
    ["JSON, which is YAML", '{"base_path": "base"}'],
    ["a link as the base", "base_path: link"],
    ["dots and slashes", "base_path: ./base/sub/..//"],
    ["comments", "# one\nbase_path: base # two"],
  ])("%s is accepted", async (_, text) => {
    expect(await seen(text)).toEqual(["a.txt", "sub"]);
  });

  test("variables are expanded in string values", async () => {
    expect(
      await seen("base_path: ${CODER_TEST_BASE}/${CODER_TEST_SUB}", {
        CODER_TEST_BASE: "base",
        CODER_TEST_SUB: "sub",
      }),
    ).toEqual([]);
    const call = [
      "call",
      "coder::read-file",
      '{"path":"a.txt"}',
      "--config",
      fileOf("base_path: base\nnon_accessible_globs: ['${CODER_TEST_NAME}.txt']"),
    ];
    const { code, stderr } = await runCoder(subject, call, { cwd: here, env: { CODER_TEST_NAME: "a" } });
    expect(code).toBe(1);
    expect(stderr).toContain("C211");
  });
});
