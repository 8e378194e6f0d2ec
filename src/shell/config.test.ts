import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, parseConfigText } from "../config/file.ts";
import { crossCheck, defaultShellConfig, shellConfigSchema } from "./config.ts";

const parse = (text: string, environment: NodeJS.ProcessEnv = {}) =>
  parseConfigText(text, { schema: shellConfigSchema, source: "c.yaml", environment });

async function refusal(text: string): Promise<string> {
  const error = await parse(text)
    .then((config) => crossCheck(config, "c.yaml"))
    .catch((failure: unknown) => failure);
  if (error instanceof ConfigError) return error.message;
  throw new Error("accepted");
}

test("the committed example is the defaults, with a folder, so that it starts", async () => {
  const example = join(import.meta.dir, "../../config.shell.example.yaml");
  const { fs, ...keys } = await parse(readFileSync(example, "utf8"));
  const { fs: byDefault, ...defaults } = defaultShellConfig();
  expect({ fs, ...keys }).toEqual({ fs: { ...byDefault, host_root: "." }, ...defaults });
  expect(crossCheck({ fs, ...keys }, "example")).toMatchObject({ fs: { host_root: "." } });
});

test("a group that is given in part has the defaults of the rest", async () => {
  const { fs } = await parse("fs: {host_root: /srv}\n");
  expect(fs).toEqual({ ...defaultShellConfig().fs, host_root: "/srv" });
});

test("an absent list has the published entries, an empty one none", async () => {
  expect((await parse("{}")).allowlist).toHaveLength(23);
  expect((await parse("{}")).denylist_patterns).toHaveLength(15);
  expect((await parse("allowlist: []")).allowlist).toEqual([]);
});

test("variables are expanded in groups", async () => {
  expect((await parse("fs: {host_root: '${HOME}/x'}", { HOME: "/h" })).fs.host_root).toBe("/h/x");
});

describe("refuses, with file, key and reason", () => {
  const cases: [string, string][] = [
    ["{}", "c.yaml: fs.host_root is null and fs.allow_unjailed is false"],
    ["allow: [ls]", "c.yaml: allow is not a known key; did you mean allowlist? The keys are max_timeout_ms,"],
    ["fs: {root: /}", "c.yaml: fs.root is not a known key; did you mean host_root? The keys are host_root,"],
    ["sandbox: {enabled: 1}", "c.yaml: sandbox.enabled is 1; expected true or false"],
    ["fs: null", "c.yaml: fs is null; expected an object"],
    ["allowlist: null", "c.yaml: allowlist is null; expected an array"],
    ["max_timeout_ms: -1", "c.yaml: max_timeout_ms is -1; expected a whole number"],
    ["fs: {host_root: /, denylist_paths: [etc]}", 'c.yaml: fs.denylist_paths holds "etc"'],
  ];
  test.each(cases)("%j", async (text, sentence) => {
    expect(await refusal(text)).toStartWith(sentence);
  });
});
