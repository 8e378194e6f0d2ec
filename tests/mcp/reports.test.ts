/**
 * Bugs that users reported for similar tools: file servers and the edit tools of agents. Each test is named
 * after its report, and uses the files and the call of that report.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

let connected: McpFixture;

beforeAll(async () => {
  connected = await connectStdio("executable", { tree: { "a.txt": "a\n" } });
});

afterAll(() => connected[Symbol.asyncDispose]());

/** Writes a file for a test, and returns its path. */
function put(path: string, content: string | Buffer, mode = 0o644): string {
  const target = join(connected.base, path);
  mkdirSync(join(target, ".."), { recursive: true });
  writeFileSync(target, content, { mode });
  return path;
}

const contentOf = (path: string): string => readFileSync(join(connected.base, path), "latin1");

const edit = (path: string, old: string, replacement: string) =>
  connected.call("coder_update_file", {
    path,
    ops: [{ op: "str_replace", old_str: old, new_str: replacement }],
  });

test.each([["$$100 USD"], ["[$&]"], ["[$`]"], ["[$'] $1 $<name>"]])(
  "modelcontextprotocol/servers#4157: new text is literal, %s",
  async (text) => {
    const path = put("4157/sample.txt", "price: PLACEHOLDER\n");
    expect((await edit(path, "PLACEHOLDER", text)).isError).toBeUndefined();
    expect(contentOf(path)).toBe(`price: ${text}\n`);
  },
);

test("modelcontextprotocol/servers#1845: a link does not lead out of the folder", async () => {
  symlinkSync("/etc/passwd", join(connected.base, "tempfile"));
  const answer = await connected.call("coder_read_file", { path: "tempfile" });
  expect(answer.isError).toBe(true);
  expect(textOf(answer)).not.toContain("root:");
});

test("modelcontextprotocol/servers#734: folders below a linked folder are found", async () => {
  put("734/shared/src/deep/README.md", "deep\n");
  symlinkSync("shared", join(connected.base, "734/link"));
  const answer = await connected.call("coder_read_file", { path: "734/link/src/deep/README.md" });
  expect(answer.isError).toBeUndefined();
  expect(textOf(answer)).toContain("deep");
});

test("modelcontextprotocol/servers#4628: a move replaces no file", async () => {
  put("4628/source.txt", "source\n");
  put("4628/target.txt", "target\n");
  const answer = await connected.call("coder_move", {
    moves: [{ from: "4628/source.txt", to: "4628/target.txt" }],
  });
  expect(answer.isError).toBe(true);
  expect([contentOf("4628/source.txt"), contentOf("4628/target.txt")]).toEqual(["source\n", "target\n"]);
});

test("modelcontextprotocol/servers#1591: line numbers are those before the call", async () => {
  const path = put("1591/list.txt", "1\n2\n3\n4\n");
  const answer = await connected.call("coder_update_file", {
    path,
    ops: [
      { op: "insert", at_line: 1, content: "0\n" },
      { op: "update_lines", from_line: 3, to_line: 3, content: "three\n" },
      { op: "remove", from_line: 4, to_line: 4 },
    ],
  });
  expect(answer.isError).toBeUndefined();
  expect(contentOf(path)).toBe("0\n1\n2\nthree\n");
});

test("wonderwhy-er/DesktopCommanderMCP#420: a new file is not written through a link", async () => {
  const outside = `${connected.base}-420`;
  symlinkSync(outside, join(connected.base, "dangling"));
  symlinkSync(join(connected.base, ".."), join(connected.base, "above"));
  for (const path of ["dangling", "dangling/file", "above/coder-420", `../${outside.split("/").pop()}`]) {
    const answer = await connected.call("coder_create_file", { path, content: "planted\n" });
    expect(answer.isError).toBe(true);
  }
  expect(existsSync(outside)).toBe(false);
  expect(existsSync(join(connected.base, "../coder-420"))).toBe(false);
});

test("openai/codex#30946: a hunk that only adds lines goes below the line that it names", async () => {
  const path = put("30946/list.py", "def first():\n    return 1\n\ndef last():\n    return 2\n");
  const patch = `*** Begin Patch\n*** Update File: ${path}\n@@ def first():\n+    # added\n*** End Patch\n`;
  const answer = await connected.call("coder_apply_patch", { patch });
  expect(answer.isError).toBeUndefined();
  expect(contentOf(path)).toBe("def first():\n    # added\n    return 1\n\ndef last():\n    return 2\n");
});

test("openai/openai-agents-python#4919: a patch moves no file onto another", async () => {
  put("4919/source.txt", "alpha\n");
  put("4919/target.txt", "important\n");
  const patch =
    "*** Begin Patch\n*** Update File: 4919/source.txt\n*** Move to: 4919/target.txt\n@@\n-alpha\n+beta\n*** End Patch\n";
  expect((await connected.call("coder_apply_patch", { patch })).isError).toBe(true);
  expect([contentOf("4919/source.txt"), contentOf("4919/target.txt")]).toEqual(["alpha\n", "important\n"]);
});

test("anthropics/claude-code#47099: a script that is overwritten can still be run", async () => {
  const path = put("47099/run.sh", "#!/bin/sh\n", 0o755);
  const answer = await connected.call("coder_create_file", {
    path,
    content: "#!/bin/sh\necho new\n",
    overwrite: true,
  });
  expect(answer.isError).toBeUndefined();
  expect(statSync(join(connected.base, path)).mode & 0o777).toBe(0o755);
});

test("anthropics/claude-code#27718: text over several lines is found in a file with CRLF", async () => {
  const path = put("27718/main.cs", "one();\r\ntwo();\r\nthree();\r\n");
  expect((await edit(path, "one();\ntwo();", "first();\nsecond();")).isError).toBeUndefined();
  expect(contentOf(path)).toBe("first();\r\nsecond();\r\nthree();\r\n");
});

test("anomalyco/opencode#49600: an edit leaves bytes elsewhere alone that are not UTF-8", async () => {
  const path = put("49600/sample.txt", Buffer.from("const x = 1;\n// caf\xe9 note\n", "latin1"));
  expect((await edit(path, "const x = 1;", "const x = 2;")).isError).toBeUndefined();
  expect(contentOf(path)).toBe("const x = 2;\n// caf\xe9 note\n");
});

test("anthropics/claude-code#62723: no file gets text in two encodings", async () => {
  const before = "# \x93\xfa\x96\x7b\nname = x\n";
  const path = put("62723/config.ini", Buffer.from(before, "latin1"));
  const refused = await edit(path, "name = x", "name = \u65e5\u672c");
  expect(refused.isError).toBe(true);
  expect(textOf(refused)).toContain("encoding");
  expect(contentOf(path)).toBe(before);
});
