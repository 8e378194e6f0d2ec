import { expect, test } from "bun:test";
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

test("the files that decide are all that could be asked at the next start, each once", () => {
  const here = join(process.cwd(), "config.yaml");
  expect(configFiles({ named: undefined, environment: {} })).toEqual([here]);
  expect(
    configFiles({ named: "/a", environment: { III_CONFIG: "/b", III_CONFIG_PATH: "config.yaml" } }),
  ).toEqual(["/a", "/b", here]);
});
