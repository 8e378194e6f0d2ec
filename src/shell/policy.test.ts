import { afterAll, expect, test } from "bun:test";
import { createRegexEngine } from "../text/regex/rust-regex.ts";
import { defaultDenylist, defaultShellConfig } from "./config.ts";
import { createPolicy, denylistOf } from "./policy.ts";
import { shellProfileOf } from "./profiles.ts";
import { makePolicy } from "./programs/policy.ts";

const regex = createRegexEngine({});
afterAll(() => regex.close());

test("the published patterns compile, which their first use relies on", () => {
  const config = defaultShellConfig();
  const confined = denylistOf(config, shellProfileOf(config, true), { holdsFiles: true } as never);
  expect(confined).not.toEqual(defaultDenylist);
  for (const pattern of [...defaultDenylist, ...confined])
    expect(() => regex.runtime.compile(pattern)).not.toThrow();
});

test("a pattern of the configuration that does not compile is refused at once", () => {
  expect(() =>
    createPolicy(defaultShellConfig(), { denylist: ["rm", "("], writableRoots: [], regex }),
  ).toThrow('holds "("');
});

test("the patterns are made ready in turns of the event loop, once", async () => {
  const done: string[] = [];
  const policy = makePolicy({
    denylist: [],
    allowlist: [],
    programFolders: [],
    writableRoots: [],
    preparations: ["engine", "runtime", "pattern"].map((part) => () => done.push(part)),
  });
  const both = Promise.all([policy.prepare(), policy.prepare()]);
  for (const parts of [1, 2, 3]) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(done.length).toBeLessThanOrEqual(parts);
  }
  await both;
  await policy.prepare();
  expect(done).toEqual(["engine", "runtime", "pattern"]);
});
