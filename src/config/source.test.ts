import { expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Pool } from "../base/threads/pool.ts";
import { checkKeys, parseForeignYaml, parseYaml } from "./file.ts";
import { configFiles, readNamed } from "./source.ts";

test("a file that is not there is refused, with what named it", async () => {
  const refusal = (variable?: string) =>
    readNamed("/no/such-file.yaml", variable).catch((failure: Error) => failure.message);
  expect(await refusal()).toBe(
    "/no/such-file.yaml: cannot be read (ENOENT); give the path of a readable YAML file to --config",
  );
  expect(await refusal("III_CONFIG")).toBe(
    "III_CONFIG (/no/such-file.yaml): cannot be read (ENOENT); give the path of a readable YAML file to III_CONFIG",
  );
});

test("a file of more than 256 KiB is refused before it is parsed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-config-"));
  const file = join(folder, "config.yaml");
  try {
    writeFileSync(file, `{}\n#${"x".repeat(256 * 1024 - 4)}`);
    expect((await readNamed(file)).keys).toEqual({});
    writeFileSync(file, `{}\n#${"x".repeat(256 * 1024 - 3)}`);
    expect(await readNamed(file).catch((failure: Error) => failure.message)).toBe(
      `${file}: has 262145 bytes, and a configuration may have 262144; give the path of a readable YAML file to --config`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a long text is parsed in a thread, with the values and the errors of a short one", async () => {
  const run = spyOn(Pool.prototype, "run");
  try {
    for (const text of ["a: [1, ~, x]", "a: &b c\nd: *b", "a: [", "a: !b c", "---\na\n---\nb"]) {
      const long = `${text}\n${"# a comment\n".repeat(1000)}`;
      const outcomes = (one: string) =>
        Promise.allSettled([parseYaml(one, "c.yaml"), parseForeignYaml(one)]).then((settled) =>
          JSON.stringify(settled, (_, value) => (value instanceof Error ? value.message : value)).replaceAll(
            / at line \d+, column \d+/g,
            "",
          ),
        );
      expect(await outcomes(long)).toBe(await outcomes(text));
    }
    expect(run).toHaveBeenCalledTimes(10);
  } finally {
    run.mockRestore();
  }
});

test("a configuration has at most 10,000 values", () => {
  const schema = Type.Object({ a: Type.Array(Type.Array(Type.Integer())) });
  const check = (values: number) =>
    checkKeys(
      { a: [[], Array.from({ length: values - 3 }, () => 1)] },
      { schema, source: "c.yaml", environment: {} },
    );
  expect(check(10_000).a[1]).toHaveLength(9997);
  expect(() => check(10_001)).toThrow("c.yaml: has more than 10000 values");
});

test("the files that decide are all that could be asked at the next start, each once", () => {
  const here = join(process.cwd(), "config.yaml");
  expect(configFiles({ named: undefined, environment: {} })).toEqual([here]);
  expect(
    configFiles({ named: "/a", environment: { III_CONFIG: "/b", III_CONFIG_PATH: "config.yaml" } }),
  ).toEqual(["/a", "/b", here]);
});
