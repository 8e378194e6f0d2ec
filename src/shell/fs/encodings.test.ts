/** Files in other encodings than UTF-8: a byte order mark decides, then the field `encoding`. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../base/log/log.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { defaultShellConfig } from "../config.ts";
import { shellFunctions } from "../functions.ts";
import { openShell } from "../services.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const log = createLog({ level: "error", form: "text", write: () => undefined });
const open = (profile: "agent" | "contract") => {
  const config = defaultShellConfig();
  return openShell({ ...config, profile, fs: { ...config.fs, host_root: base } }, { environment: {}, log });
};
const [agent, contract] = [await open("agent"), await open("contract")];
afterAll(async () => {
  await agent.close();
  await contract.close();
  rmSync(base, { recursive: true });
});

/** Returns the answer of a call, or its error. */
async function call(op: string, payload: object, runtime = agent) {
  const definition = shellFunctions.find(({ id }) => id === `shell::fs::${op}`)!;
  const outcome = await createInvoke(runtime, log)(definition, payload);
  return ("error" in outcome ? outcome : outcome.answer) as Record<string, never>;
}

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
const files = {
  be: utf16("one\r\nдва\r\n").swap16(),
  le: utf16("one\r\nдва\r\n"),
  marked: Buffer.from("\ufeffone\n"),
  latin1: Buffer.from("one\ncaf\xe9\n", "latin1"),
  returns: Buffer.from("zero\rone\r"),
};
const at = (name: string) => join(base, name);
beforeEach(() => {
  for (const [name, bytes] of Object.entries(files)) writeFileSync(at(name), bytes);
});

/** Returns the lines that a search finds, each as `name:line:text`. */
async function grep(pattern: string, more: object = {}, runtime = agent): Promise<string[]> {
  const { matches } = await call("grep", { path: base, pattern, ...more }, runtime);
  return (matches as unknown as { path: string; line: number; content: string }[]).map(
    ({ path, line, content }) => `${path.slice(base.length + 1)}:${line}:${content}`,
  );
}

test("grep reads the text after a byte order mark, and lines that end in CR", async () => {
  expect(await grep("^one$")).toEqual([
    "be:1:one",
    "latin1:1:one",
    "le:1:one",
    "marked:1:one",
    "returns:2:one",
  ]);
  expect(await grep("два")).toEqual(["be:2:два", "le:2:два"]);
});

test("grep reads other files in the encoding of the request", async () => {
  expect(await grep("café", { encoding: "Latin1" })).toEqual(["latin1:2:café"]);
  expect(await grep("два", { encoding: "latin1" })).toEqual(["be:2:два", "le:2:два"]);
  expect(await grep("café")).toEqual([]);
});

test("the contract profile finds bytes, unless the request names an encoding", async () => {
  expect(await grep("^one$", {}, contract)).toEqual(["latin1:1:one"]);
  expect(await grep("café", { encoding: "latin1" }, contract)).toEqual(["latin1:2:café"]);
});

test("sed writes each file in its encoding", async () => {
  const sed = (name: string, pattern: string, replacement: string, more: object = {}) =>
    call("sed", { files: [at(name)], pattern, replacement, ...more });
  const bytesAfter = async (...args: Parameters<typeof sed>) => {
    expect(await sed(...args)).toMatchObject({ total_replacements: 1 });
    return readFileSync(at(args[0]));
  };
  expect(await bytesAfter("be", "^(.+)а$", "<$1>", { encoding: "latin1" })).toEqual(
    utf16("one\r\n<дв>\r\n").swap16(),
  );
  expect((await bytesAfter("latin1", "café", "thé", { encoding: "latin1" })).toString("latin1")).toBe(
    "one\nth\xe9\n",
  );
  expect((await bytesAfter("returns", "^one$", "1")).toString()).toBe("zero\r1\r");
  for (const runtime of [agent, contract]) {
    writeFileSync(at("latin1"), files.latin1);
    const payload = { files: [at("latin1")], pattern: "é$", replacement: "è", encoding: "latin1" };
    // In the contract profile, a pattern is matched against the line with its end.
    const { total_replacements } = await call("sed", payload, runtime);
    expect(total_replacements).toBe((runtime === agent ? 1 : 0) as never);
  }
});

test("sed changes nothing that the encoding cannot hold", async () => {
  const refusalOf = async (payload: object) => {
    const { results } = await call("sed", { regex: false, ...payload });
    return (results as unknown as { error: string }[])[0]!.error;
  };
  const omega = { files: [at("latin1")], pattern: "one", replacement: "Ω", encoding: "latin1" };
  expect(await refusalOf(omega)).toMatch(/"Ω" \(U\+03A9\), and windows-1252.*Nothing was changed/);
  const half = Buffer.from([0xff, 0xfe, 0x61, 0, 0, 0xd8, 0x0a, 0]);
  writeFileSync(at("le"), half);
  expect(await refusalOf({ files: [at("le")], pattern: "a", replacement: "b" })).toMatch(
    /invalid or ambiguous in UTF-16LE.*Nothing was changed/,
  );
  expect(await refusalOf({ files: [at("latin1")], pattern: "one", replacement: "1" })).toMatch(
    /is not valid UTF-8.*"encoding": "windows-1252"/,
  );
  expect([readFileSync(at("le")), readFileSync(at("latin1"))]).toEqual([half, files.latin1]);
});

test("sed says how to repeat a call for a file that failed, so that no other is changed twice", async () => {
  const sent = { path: at("both"), pattern: "v", replacement: "vv" };
  mkdirSync(at("both/\u00e4"), { recursive: true });
  writeFileSync(at("both/plain"), "v\n");
  writeFileSync(at("both/\u00e4/latin"), Buffer.from("v\xff\n", "latin1"));
  const { results } = await call("sed", sent);
  const { error } = (results as unknown as { error?: string }[]).find((one) => one.error !== undefined)!;
  expect(error).toMatch(
    /This file was not changed\..*"encoding": "windows-1252"\. The call has changed other files: /,
  );
  const files = JSON.parse(/"files": (\[.*?\]) and no "path"/.exec(error!)![1]!);
  const { path: _, ...repeated } = { ...sent, files, encoding: "windows-1252" };
  expect(await call("sed", repeated)).toMatchObject({ total_replacements: 1 });
  expect(readFileSync(at("both/plain"), "utf8")).toBe("vv\n");
  expect(readFileSync(at("both/\u00e4/latin"), "latin1")).toBe("vv\xff\n");
  const again = { ...sent, pattern: "none", include_glob: ["latin"] };
  expect(JSON.stringify(await call("sed", again))).not.toContain("other files");
  rmSync(at("both"), { recursive: true });
});

test("sed leaves what seems to be UTF-16 alone, unless the request names an encoding", async () => {
  const content = Buffer.from("one\ntwo\n", "utf16le");
  const sed = async (more: object) => {
    writeFileSync(at("wide"), content);
    const { results } = await call("sed", { files: [at("wide")], pattern: "o", replacement: "xx", ...more });
    return (results as unknown as object[])[0];
  };
  expect(await sed({})).toMatchObject({
    success: false,
    error: expect.stringMatching(/UTF-16LE without a byte order mark.*"encoding": "utf-16le"/),
  });
  expect(readFileSync(at("wide"))).toEqual(content);
  expect(await sed({ encoding: "utf-16le" })).toMatchObject({ success: true, replacements: 2 });
  expect(readFileSync(at("wide"))).toEqual(Buffer.from("xxne\ntwxx\n", "utf16le"));
  rmSync(at("wide"));
});

test.each([
  ["grep", { path: at("le"), pattern: "x" }],
  ["sed", { files: [at("le")], pattern: "x", replacement: "y" }],
  ["read", { path: at("le") }],
  ["write", { path: at("new"), content: { channel_id: "none", access_key: "none" } }],
])("%s refuses labels of no encoding, and a field that no sandbox knows", async (op, request) => {
  expect(await call(op, { ...request, encoding: "klingon" })).toMatchObject({
    error: expect.stringMatching(/S210.*`encoding` is \\"klingon\\"/),
  });
  const target = { kind: "sandbox", sandbox_id: "0b6fbd0e-5ac4-4d52-9a0f-6d2e3c1f7b48" };
  expect(await call(op, { ...request, encoding: "latin1", target })).toMatchObject({
    error: expect.stringMatching(/S210.*`encoding`.*sandbox/),
  });
});
