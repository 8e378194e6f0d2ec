import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../config/file.ts";
import { defaultConfig, parseConfig } from "./config.ts";

const parse = (text: string, environment: NodeJS.ProcessEnv = {}) => parseConfig(text, "c.yaml", environment);

async function refusal(text: string): Promise<string> {
  const error = await parse(text, { EMPTY: "" }).catch((failure: unknown) => failure);
  if (error instanceof ConfigError) return error.message;
  throw new Error("accepted");
}

test("the committed example is the defaults", async () => {
  const example = join(import.meta.dir, "../..", "config.example.yaml");
  expect(await parse(readFileSync(example, "utf8"))).toEqual(defaultConfig());
});

test("what is given wins, what is left out has its default", async () => {
  expect(await parse("base_path: ./x\nfsync: false\n")).toEqual({
    ...defaultConfig(),
    base_path: "./x",
    fsync: false,
  });
});

test("a list that holds the one mapping is accepted", async () => {
  expect((await parse("- max_read_bytes: 5\n")).max_read_bytes).toBe(5);
});

test("variables are expanded in strings, at any depth", async () => {
  const config = await parse("base_path: ${HOME}/x\nnon_accessible_globs: ['${A}/**']\n", {
    HOME: "/h",
    A: "b",
  });
  expect(config.base_path).toBe("/h/x");
  expect(config.non_accessible_globs).toEqual(["b/**"]);
});

test("the reason against text that is not YAML ends with its place", async () => {
  expect(await refusal("base_path: [")).toEndWith(" at line 1, column 13");
});

describe("refuses, with file, key and reason", () => {
  const cases: [string, string][] = [
    ["", "c.yaml: must be a mapping of keys to values; write {} for all defaults"],
    ["just text", "c.yaml: must be a mapping of keys to values; write {} for all defaults"],
    ["- a: 1\n- b: 2\n", "c.yaml: must be a mapping of keys to values; write {} for all defaults"],
    ["base_path: [", "c.yaml: is not YAML: Flow sequence in block collection must be sufficiently indented"],
    ["base_path: a\nbase_path: b\n", "c.yaml: is not YAML: "],
    ["bas_path: x", "c.yaml: bas_path is not a known key; did you mean base_path? The keys are base_path,"],
    ["max_read_bytes: 0", "c.yaml: max_read_bytes is 0; expected a whole number from 1 to 1073741824"],
    ["max_read_bytes: '5'", 'c.yaml: max_read_bytes is the string "5"; expected a whole number'],
    ["non_accessible_globs: '*'", 'c.yaml: non_accessible_globs is the string "*"; expected an array'],
    ["non_accessible_globs: [1]", "c.yaml: non_accessible_globs[0] is 1; expected a string"],
    ["base_path: ''", "c.yaml: base_path is empty; expected some text"],
    [
      "base_path: ${EMPTY}",
      "c.yaml: base_path uses ${EMPTY}, and that environment variable is not set or is empty",
    ],
    ["non_accessible_globs: [!env FOO]", "c.yaml: is not YAML: Unresolved tag: !env"],
    ["non_accessible_globs: &a [*a]", "c.yaml: has an alias (*name), which is not supported"],
    ["base_path: &a x\nnon_accessible_globs: [*a]", "c.yaml: has an alias (*name), which is not supported"],
    ["base_path: a\n---\nbase_path: b\n", "c.yaml: holds several documents of YAML; keep one"],
    ["fold_deny: never", 'c.yaml: fold_deny is the string "never"; expected "auto" or "always"'],
    ["fsync: 1", "c.yaml: fsync is 1; expected true or false"],
    ["base_path: ${NOT_SET}", "c.yaml: base_path uses ${NOT_SET}, and that environment variable is not set"],
    ["__proto__: {a: 1}", "c.yaml: __proto__ is not a known key"],
  ];
  test.each(cases)("%j", async (text, sentence) => {
    expect(await refusal(text)).toStartWith(sentence);
  });
});
