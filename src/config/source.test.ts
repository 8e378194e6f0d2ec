import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

test("a file of more than 1 MiB is refused before it is parsed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "coder-config-"));
  const file = join(folder, "config.yaml");
  try {
    writeFileSync(file, `{}\n#${"x".repeat(1024 * 1024 - 4)}`);
    expect((await readNamed(file)).keys).toEqual({});
    writeFileSync(file, `{}\n#${"x".repeat(1024 * 1024 - 3)}`);
    expect(await readNamed(file).catch((failure: Error) => failure.message)).toBe(
      `${file}: has 1048577 bytes, and a configuration may have 1048576; give the path of a readable YAML file to --config`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the files that decide are all that could be asked at the next start, each once", () => {
  const here = join(process.cwd(), "config.yaml");
  expect(configFiles({ named: undefined, environment: {} })).toEqual([here]);
  expect(
    configFiles({ named: "/a", environment: { III_CONFIG: "/b", III_CONFIG_PATH: "config.yaml" } }),
  ).toEqual(["/a", "/b", here]);
});
