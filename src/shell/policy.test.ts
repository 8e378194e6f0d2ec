import { afterAll, expect, test } from "bun:test";
import { createRegexEngine } from "../text/regex/rust-regex.ts";
import { defaultDenylist, defaultShellConfig } from "./config.ts";
import { compilePattern, createPolicy, denylistOf, encodeInAscii } from "./policy.ts";
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

test("each character beyond ASCII becomes one of its class, as the engine sees it", () => {
  const classes = [String.raw`\w`, String.raw`\s`].map((source) => regex.runtime.compile(`^${source}$`));
  const classOf = (bytes: Buffer) => classes.map((one) => one.isMatch(bytes, 0, bytes.length)).join();
  const differing: string[] = [];
  const compare = (code: number) => {
    const character = String.fromCodePoint(code);
    const ascii = encodeInAscii(character);
    if (ascii.length !== 1 || ascii[0]! > 0x7f || classOf(ascii) !== classOf(Buffer.from(character)))
      differing.push(code.toString(16));
  };
  // In these ranges, no character has been assigned for years.
  for (let code = 0x80; code < 0x530; code++) compare(code);
  for (let code = 0x2000; code < 0x20a0; code++) compare(code);
  for (let code = 0x1f600; code < 0x1f650; code++) compare(code);
  expect(differing).toEqual([]);
  expect(encodeInAscii("a\ud800€ä😀").toString("latin1")).toBe("a\x7f\x7f0\x7f");
});

test("the published patterns match the commands beyond ASCII that they are for, and no others", () => {
  const patterns = defaultDenylist.map((source) => compilePattern(source, regex));
  const isRefused = (line: string) => {
    const answers = [line, `${line} ${"€".repeat(5000)}`].map((text) =>
      patterns.some((pattern) => pattern.matches(text)),
    );
    expect(answers[1]).toBe(answers[0]!);
    return answers[0];
  };
  expect(isRefused("find € -exec ä")).toBe(true);
  expect(isRefused("€find\u00a0-exec€")).toBe(true);
  expect(isRefused("rm\u2003-rf\u3000/")).toBe(true);
  expect(isRefused("äfind -exec")).toBe(false);
  expect(isRefused("find -execä")).toBe(false);
  expect(isRefused("git coreäpager")).toBe(false);
});

test("a long text beyond ASCII costs the published patterns as much as one within", () => {
  const countFor = (character: string): number => {
    let interruptions = 0;
    const runtime = regex.openRuntime(() => interruptions++);
    const text = `find awk sed curl git node npm ${character.repeat(20_000)}`;
    for (const source of defaultDenylist) compilePattern(source, { runtime }).matches(text);
    runtime.drop();
    return interruptions;
  };
  const beyond = countFor("€");
  expect(beyond).toBeGreaterThan(0);
  expect(beyond).toBeLessThan(2 * countFor("~"));
});
