/** Arguments as agents send them: names of other tool sets, other types, placeholders, unknown fields. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { workers } from "../../src/serve/workers.ts";
import { buildTree, snapshotTree, type Tree, treeOf } from "../harness/tree.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";
import { startHttp } from "./http-fixture.ts";
import { toolOf } from "./suite-worker.ts";

type Payload = Record<string, unknown>;

const tree: Tree = { "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n", "docs/c.md": "c\n" };

describe.each([[[]], [["--structured"]]])("the coder worker with %j", (args) => {
  let connected: McpFixture;
  beforeAll(async () => {
    connected = await connectStdio("executable", { args: [...args, "--tools", "all"] });
  });
  afterAll(() => connected[Symbol.asyncDispose]());
  beforeEach(() => buildTree(connected.root, tree));

  const call = (tool: string, payload: Payload) => connected.call(`coder_${tool}`, payload);
  const files = () => treeOf(snapshotTree(connected.root));

  test.each(workers.coder.functions.map(({ id, examples }) => [id, examples[0]!.request] as const))(
    "%s refuses an unknown field before anything is done",
    async (id, example) => {
      const before = files();
      const result = await connected.call(toolOf(id), { ...example, zzzz: true });
      expect(result.isError).toBe(true);
      expect(result.structuredContent).toBeUndefined();
      expect(textOf(result)).toContain("unknown_field");
      expect(textOf(result)).toContain("has no field `zzzz`. Nothing was done.");
      expect(files()).toEqual(before);
    },
  );

  test.each([
    [
      "update_file",
      { files: [{ path: "a.txt", old_str: "one", new_str: "1", dry_run: true }] },
      "Send `dry_run` at the top level, not in ",
    ],
    [
      "update_file",
      { path: "a.txt", old_str: "one", new_str: "1", expectedRevison: "x" },
      "Did you mean `expected_revision` in an entry of `files`?",
    ],
    ["delete_file", { paths: ["a.txt"], dry: true }, "Did you mean `dry_run`?"],
    ["read_file", { path: "a.txt", offset: 1, limit: 2 }, "Send `line_from` and `line_to`"],
    ["read_file", { path: "a.txt", start_line: 1 }, "Send `line_from` and `line_to`"],
    ["read_file", { path: "a.txt", head: 1 }, "Send `line_to`"],
    ["search", { query: "one", glob: "*.md" }, "Send `include_globs`"],
    [
      "search",
      { query: "one", paths: ["a.txt", "b.txt"] },
      "Send `include_globs`, an array of paths and globs",
    ],
    ["replace", { query: "one", replacement: "1", files: ["a.txt"] }, "Send `include_globs`"],
    [
      "create_file",
      { files: [{ path: "a.txt", content: "" }], overwrite: true },
      "Send `overwrite` in an entry of `files`.",
    ],
    [
      "transact",
      { changes: [{ op: "delete", path: "a.txt", dry_run: true }] },
      "Send `dry_run` at the top level, not in ",
    ],
    ["move", { files: [{ from: "a.txt", to: "z", force: true }] }, "has no field `force`"],
  ])("%s %j is refused, with what to send", async (tool, payload, advice) => {
    const before = files();
    const result = await call(tool, payload);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("unknown_field");
    expect(textOf(result)).toContain(advice);
    expect(files()).toEqual(before);
  });

  test.each([
    [{ path: "a.txt", old_str: "one", new_str: "1" }, ""],
    [
      { file_path: "a.txt", old_string: "one", new_string: "1" },
      "[read file_path as path, old_string as old_str, new_string as new_str]",
    ],
    [
      { path: "a.txt", edits: [{ oldText: "one", newText: "1" }] },
      "[read edits as ops, oldText as old_str, newText as new_str]",
    ],
    [{ path: "a.txt", ops: '[{"op": "str_replace", "old_str": "one", "new_str": "1"}]' }, ""],
    [{ path: "a.txt", ops: { from_line: "1", to_line: "1", content: "1" } }, ""],
    [{ files: '{"path": "a.txt", "ops": [{"pattern": "one", "replacement": "1"}]}' }, ""],
    [{ path: "a.txt", old_str: "one", new_str: "1", dry_run: "", answer: null, expected_revision: "" }, ""],
  ])("an edit as %j is made, and says what was read as what", async (payload, note) => {
    const result = await call("update_file", payload);
    expect("isError" in result).toBe(false);
    expect("structuredContent" in result).toBe(args.length > 0);
    const { notice } = { notice: undefined, ...(result["structuredContent"] as object) };
    const hasNotice = args.length > 0 && !JSON.stringify(payload).includes('\\"op\\"');
    expect(notice ?? "").toMatch(hasNotice ? /^No `op` was sent, .*: files\[0\]\.ops\[0\]: \w+\.$/ : /^$/);
    expect(files()["a.txt"]).toBe("1\ntwo\nthree\n");
    expect(/^\[read .*\]$/m.exec(textOf(result))?.[0] ?? "").toBe(note);
  });

  test("dryRun changes nothing, and says so", async () => {
    const before = files();
    for (const dryRun of [true, "true"]) {
      const payload = { path: "a.txt", old_str: "one", new_str: "1", dryRun };
      const text = textOf(await call("update_file", payload));
      expect(text).toContain("[dry run: nothing was changed]");
      expect(text).toContain("[read dryRun as dry_run]");
    }
    await call("delete_file", { path: "a.txt", dryRun: true });
    await call("move", { source: "a.txt", destination: "z.txt", dryRun: true });
    await call("transact", { op: "delete", path: "a.txt", dryRun: true });
    expect(files()).toEqual(before);
  });

  test("a text that is left out is empty", async () => {
    expect("isError" in (await call("update_file", { path: "a.txt", old_str: "two\n" }))).toBe(false);
    expect(files()["a.txt"]).toBe("one\nthree\n");
  });

  test.each([
    ["create_file", { file_path: "n.txt", contents: "n\n" }, { "n.txt": "n\n" }],
    ["create_file", { path: "b.txt", content: "n\n", overwrite: "true" }, { "b.txt": "n\n" }],
    ["move", { source: "b.txt", destination: "n.txt" }, { "b.txt": undefined, "n.txt": "b\n" }],
    ["copy", { from: "b.txt", to: "n.txt" }, { "n.txt": "b\n" }],
    ["delete_file", { path: "b.txt", recursive: "false" }, { "b.txt": undefined }],
    ["make_folder", { directory: "n" }, { "n/": null }],
    [
      "transact",
      {
        changes: [
          { op: "rename", from: "b.txt", to: "n.txt" },
          { path: "n.txt", old_str: "b", new_str: "n" },
        ],
      },
      { "b.txt": undefined, "n.txt": "n\n" },
    ],
    [
      "apply_patch",
      { input: "*** Begin Patch\n*** Add File: n.txt\n+n\n*** End Patch\n" },
      { "n.txt": "n\n" },
    ],
  ])("%s %j does what it means", async (tool, payload, changed: Readonly<Record<string, unknown>>) => {
    const result = await call(tool, payload);
    expect("isError" in result).toBe(false);
    const now = files() as Record<string, unknown>;
    for (const [path, content] of Object.entries(changed)) expect(now[path]).toBe(content as never);
  });

  test.each([
    ["read_file", { path: "a.txt", line_from: "2", line_to: "2", tail: 0, paths: [], encoding: "" }, "two"],
    ["read_file", { paths: '["a.txt"]' }, "three"],
    ["read_file", { filePath: "a.txt" }, "[read filePath as path]"],
    ["search", { query: "two", cursor: "", file_types: [], max_matches: 0, include_globs: "*.txt" }, "a.txt"],
    ["tree", { dir: "docs", depth: "1", max_nodes: 0 }, "c.md"],
    ["list_folder", { directory: "docs", page: 0, page_size: 0 }, "c.md"],
    ["checkpoints", { before_seq: 0, path: "", limit: "5" }, ""],
    ["changes", { since: "", path: null }, ""],
  ])("%s %j reads what it means", async (tool, payload, expected) => {
    const result = await call(tool, payload);
    expect("isError" in result).toBe(false);
    expect(textOf(result)).toContain(expected);
  });

  test.each([
    ["read_file", { path: "a.txt", line_from: "2.5" }, "expected a whole number from 1 to 4294967295."],
    ["read_file", { path: "a.txt", numbered: 1 }, 'Send "numbered": true.'],
    ["read_file", { paths: 5 }, 'Send "paths": ["5"].'],
    [
      "read_file",
      { paths: ["a.txt", { path: "b.txt", line_from: 1 }] },
      'Send "files": [{"path":"a.txt"},{"path":"b.txt","line_from":1}].',
    ],
    ["read_file", { path: ["a.txt", "b.txt"] }, 'Send "paths": ["a.txt","b.txt"].'],
    [
      "search",
      { query: "one", path: ["a.txt", "z"] },
      'Send "include_globs": ["a.txt","a.txt/**","z","z/**"].',
    ],
    ["list_folder", { path: ["a", "z"] }, "`path` takes one value. Make a call for each."],
    ["create_file", { path: "n", content: { a: 1 } }, "Send its JSON as a string."],
    ["create_file", { path: "n", content: "", mode: 644 }, 'Send "mode": "0644".'],
    ["search", { query: 404 }, 'Send "query": "404".'],
    ["delete_file", { paths: ["a.txt"], recursive: "yes" }, 'Send "recursive": true.'],
    [
      "update_file",
      { path: "a.txt", ops: "remove two" },
      "Each entry is an object with `op` and the fields of that.",
    ],
    ["undo", { seq: [1, 2] }, "`seq` takes one value. Make a call for each."],
  ])("%s %j is refused, with what to send", async (tool, payload, advice) => {
    const before = files();
    const result = await call(tool, payload);
    expect(result.isError).toBe(true);
    expect(textOf(result).replaceAll('\\"', '"')).toContain(advice);
    expect(files()).toEqual(before);
  });
});

describe("paths and texts in the forms of other programs", () => {
  let connected: McpFixture;
  beforeAll(async () => {
    connected = await connectStdio("executable", {
      args: ["--tools", "all"],
      configure: (base) => ({ base_path: base, non_accessible_globs: ["**/*secret*"] }),
      env: { HOME: "/home/nobody-at-all" },
    });
  });
  afterAll(() => connected[Symbol.asyncDispose]());
  beforeEach(() => buildTree(connected.root, { ...tree, secret: "s\n" }));

  const call = (tool: string, payload: Payload) => connected.call(`coder_${tool}`, payload);
  const files = () => treeOf(snapshotTree(connected.root));

  test.each(["./a.txt", "docs/../a.txt", "<base>/a.txt"])("%s is taken", async (path) => {
    const result = await call("read_file", { path: path.replace("<base>", connected.base) });
    expect(textOf(result)).toContain("one\ntwo\n");
  });

  test("a folder may end with a slash", async () => {
    expect(textOf(await call("list_folder", { path: "docs/" }))).toContain("c.md");
    expect("isError" in (await call("make_folder", { paths: ["n/"] }))).toBe(false);
  });

  const forms = [
    "~/a.txt",
    "$HOME/a.txt",
    '"a.txt"',
    "'a.txt'",
    "a.txt:2",
    "a.txt:2:1",
    "file://<base>/a.txt",
  ];

  test.each(forms)("%s is nowhere read, and the path that works is named", async (form) => {
    const path = form.replace("<base>", connected.base);
    const calls: [string, Payload][] = [
      ["read_file", { path }],
      ["read_file", { paths: ["b.txt", path] }],
      ["update_file", { path, old_str: "one", new_str: "1" }],
      ["list_folder", { path }],
      ["tree", { path }],
      ["search", { query: "one", path }],
      ["move", { from: path, to: "n.txt" }],
      ["copy", { from: path, to: "n.txt" }],
      ["transact", { op: "move", from: path, to: "n.txt" }],
    ];
    const before = files();
    for (const [tool, payload] of calls) {
      const result = await call(tool, payload);
      expect(result.isError).toBe(true);
      expect(textOf(result).replaceAll('\\"', '"')).toContain('Send "a.txt"');
    }
    expect(files()).toEqual(before);
  });

  test("a change that fails so says that nothing was changed, and which it was", async () => {
    const changes = [
      { op: "delete", path: "b.txt" },
      { op: "move", from: "~/a.txt", to: "n.txt" },
    ];
    expect(textOf(await call("transact", { changes }))).toStartWith(
      'C210 invalid_argument: Nothing was changed. Change 2 of 2 ("~/a.txt"): The path "~/a.txt" begins with ~',
    );
  });

  test.each(forms)("%s is made by nothing but a literal call", async (form) => {
    const path = form.replace("<base>", connected.base);
    const calls: [string, Payload][] = [
      ["create_file", { path, content: "" }],
      ["create_file", { path, content: "", overwrite: true }],
      ["move", { from: "b.txt", to: path }],
      ["copy", { from: "b.txt", to: path }],
      ["make_folder", { paths: [path] }],
      ["transact", { op: "create", path, content: "" }],
      ["apply_patch", { patch: `*** Begin Patch\n*** Add File: ${path}\n+n\n*** End Patch\n` }],
    ];
    const before = files();
    for (const [tool, payload] of calls) {
      const result = await call(tool, payload);
      expect(result.isError).toBe(true);
      expect(textOf(result).replaceAll('\\"', '"')).toContain('send "literal": true');
    }
    expect(files()).toEqual(before);
  });

  test("a name like that can be made on purpose, and is read then", async () => {
    expect("isError" in (await call("create_file", { path: "a.txt:2", content: "n\n", literal: true }))).toBe(
      false,
    );
    expect(textOf(await call("read_file", { path: "a.txt:2" }))).toContain("n");
    const edited = await call("update_file", { path: "a.txt:2", old_str: "n", new_str: "m" });
    expect("isError" in edited).toBe(false);
    expect(files()).toMatchObject({ "a.txt:2": "m\n" });
  });

  test("what is said of a denied path does not depend on the disk", async () => {
    const said = async (path: string) => {
      const calls: [string, Payload][] = [
        ["read_file", { path }],
        ["read_file", { paths: [path] }],
        ["update_file", { path, old_str: "s", new_str: "t" }],
        ["list_folder", { path }],
        ["search", { query: "s", path }],
        ["move", { from: path, to: "n.txt" }],
        ["create_file", { path, content: "" }],
        ["transact", { op: "copy", from: path, to: "n.txt" }],
      ];
      const texts = [];
      for (const [tool, payload] of calls) texts.push(textOf(await call(tool, payload)));
      return texts;
    };
    for (const form of ["secret:2", "~/secret", '"secret"', "$HOME/secret"]) {
      const there = await said(form);
      buildTree(connected.root, tree);
      expect(await said(form)).toEqual(there);
      buildTree(connected.root, { ...tree, [form]: "", secret: "s\n" });
      expect(await said(form)).toEqual(there);
      buildTree(connected.root, { ...tree, secret: "s\n" });
    }
  });

  test.each([
    "1→one\n2→1\n",
    "1→one",
    "L1: a\nL2: b",
    "1 | a\n2 | b\n",
    "     1\ta\n     2\tb\n",
    "1: a\n2: b",
  ])("%j is not written with its numbers", async (text) => {
    const before = files();
    const calls: [string, Payload][] = [
      ["create_file", { path: "n.txt", content: text }],
      ["update_file", { path: "a.txt", old_str: "two", new_str: text }],
      ["update_file", { path: "a.txt", ops: [{ at_line: 1, content: text }] }],
      ["transact", { op: "create", path: "n.txt", content: text }],
    ];
    for (const [tool, payload] of calls) {
      const result = await call(tool, payload);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain("without the numbers");
    }
    expect(files()).toEqual(before);
    const literal = await call("create_file", { path: "n.txt", content: text, literal: true });
    expect("isError" in literal).toBe(false);
  });

  test("an edit that is sent twice is already applied, and what looks alike is named", async () => {
    const edit = { path: "a.txt", old_str: "one\ntwo", new_str: "first line\ntwo" };
    await call("update_file", edit);
    const again = await call("update_file", edit);
    expect(again.isError).toBe(true);
    expect(textOf(again)).toContain("already_applied");
    expect(textOf(again)).toContain("new_str is there already, in line 1");
    const alike = textOf(await call("update_file", { path: "a.txt", old_str: "three\u200b", new_str: "3" }));
    expect(alike).toContain("the file has U+0065 where old_str has U+0065 U+200B");
  });
});

describe("the shell worker", () => {
  let connected: McpFixture;
  beforeAll(async () => {
    connected = await connectStdio("executable", {
      args: ["--worker", "shell", "--tools", "all"],
      configure: (base) => ({ base_path: undefined, fs: { host_root: base }, working_dir: base }),
    });
  });
  afterAll(() => connected[Symbol.asyncDispose]());
  beforeEach(() => buildTree(connected.root, tree));

  const call = (tool: string, payload: Payload) => connected.call(`shell_${tool}`, payload);

  const offered = workers.shell.functions.filter(({ needsBus }) => needsBus !== true);

  test.each(offered.map(({ id, examples }) => [id, examples[0]!.request] as const))(
    "%s refuses an unknown field before anything is done",
    async (id, example) => {
      const result = await connected.call(toolOf(id), { ...example, zzzz: true });
      expect(result.isError).toBe(true);
      expect(textOf(result)).toStartWith("S210 unknown_field: This function has no field `zzzz`");
    },
  );

  test("names and types of other tool sets are taken", async () => {
    const path = `${connected.base}/a.txt`;
    const shown = textOf(
      await call("exec", { cmd: "cat", args: path, timeout_ms: "5000", target: "", cwd: "" }),
    );
    expect(shown).toContain("one\ntwo\nthree");
    expect(shown).toContain("[read cmd as command]");
    const moved = await call("fs_mv", { source: path, destination: `${connected.base}/n.txt` });
    expect("isError" in moved).toBe(false);
    expect(treeOf(snapshotTree(connected.root))["n.txt"]).toBe("one\ntwo\nthree\n");
    expect(textOf(await call("fs_ls", { directory: connected.base }))).toContain("n.txt");
  });

  test.each([
    ["exec", { command: "ls", timeout: 5 }, "Send `timeout_ms`, in milliseconds."],
    ["exec", { command: "ls", timeout_ms: "5s" }, 'Send "timeout_ms": 5000.'],
    ["exec", { command: ["ls", "-l"] }, "'command' must be a string"],
    ["fs_ls", { path: 5 }, 'Send "path": "5".'],
    ["fs_grep", { path: "/x", query: "x" }, "Send `pattern`"],
    ["fs_ls", { path: "file:///none" }, "That place is not served."],
  ])("%s %j is refused, with what to send", async (tool, payload, advice) => {
    const result = await call(tool, payload);
    expect(result.isError).toBe(true);
    expect(textOf(result).replaceAll('\\"', '"')).toContain(advice);
  });
});

test("over HTTP it is the same", async () => {
  await using served = await startHttp("executable", { tree });
  const client = new Client({ name: "tests", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(served.url));
  const call = (payload: Payload) => client.callTool({ name: "coder_read_file", arguments: payload });
  expect((await call({ path: "a.txt", offset: 2 })).isError).toBe(true);
  const { content } = await call({ file_path: "a.txt", line_from: "2" });
  expect(JSON.stringify(content)).toContain("[read file_path as path]");
  await client.close();
});

test("the profile contract takes requests as they are, and the key refuses what is unknown there", async () => {
  await using plain = await connectStdio("executable", { tree, config: { profile: "contract" } });
  expect((await plain.call("coder_read_file", { path: "a.txt", zzzz: 1 })).isError).toBeUndefined();
  expect((await plain.call("coder_read_file", { file_path: "a.txt" })).isError).toBe(true);
  await using strict = await connectStdio("executable", {
    tree,
    config: { profile: "contract", unknown_fields: "refuse" },
  });
  expect(textOf(await strict.call("coder_read_file", { path: "a.txt", zzzz: 1 }))).toContain("unknown_field");
  await using lax = await connectStdio("executable", { tree, config: { unknown_fields: "ignore" } });
  expect(textOf(await lax.call("coder_read_file", { filePath: "a.txt", zzzz: 1 }))).toContain(
    "[read filePath",
  );
});
