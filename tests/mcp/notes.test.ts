/** The notes in answers: cases in which a note was once missing or misleading. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectStdio, type McpFixture, textOf, withoutCheckpoint } from "./client.ts";

const tree = {
  ".gitignore": "node_modules/\nout/\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  "a.txt": "one\ntwo\n",
  "crlf.txt": "one\r\ntwo\r\n",
  "mixed.txt": "one\r\ntwo\n",
  "caf\u00e9.txt": "x\n",
  "zero\u200bwidth.txt": "x\n",
  "dist/built.js": "one\n",
  "node_modules/m/index.js": "one\n",
  "out/log.txt": "one\n",
  "lib/deep/x.txt": "x\n",
  "lib/deep/y.txt": "y\n",
  "lib/link": { link: "deep/x.txt" },
  "secrets/key": "k\n",
  alias: { link: "secrets" },
  away: { link: "/etc" },
  binary: "\0\u0001KEY\n\0\u0001KEY\n",
  "links/real/a.txt": "one\ntwo\n",
  "links/real/b.txt": "b\n",
  "links/l": { link: "real/a.txt" },
  "links/folder": { link: "real" },
  dangling: { link: "nowhere" },
  "holds/f.txt": "f\n",
  "holds/.env": "E=1\n",
  "long.txt": `${"x".repeat(140_000)}\n`,
  "blanks.txt": "function add(a, b) {\n\treturn a;\n}\n",
  "ports.cmd": "echo dev\nset PORT=3000\ngoto end\necho prod\nset PORT=3000\ngoto end\n",
};

let connected: McpFixture;
const call = async (tool: string, args: Record<string, unknown>) => {
  const answer = await connected.call(`coder_${tool}`, args);
  return { text: textOf(answer), isError: answer.isError === true };
};
const ok = async (tool: string, args: Record<string, unknown>) => {
  const { text, isError } = await call(tool, args);
  expect(isError, text).toBe(false);
  return withoutCheckpoint(text);
};
const error = async (tool: string, args: Record<string, unknown>) => {
  const { text, isError } = await call(tool, args);
  expect(isError, text).toBe(true);
  return text;
};

beforeAll(async () => {
  connected = await connectStdio("executable", { tree });
});
afterAll(() => connected[Symbol.asyncDispose]());

describe("what a search left out", () => {
  test("names both fields where default excludes and ignore files leave out the same", async () => {
    const both = "(use_default_excludes: false and respect_gitignore: false)";
    expect(await ok("search", { query: "one", path: ".", include_globs: ["*.txt"] })).toContain(
      `[not searched: .git/, dist/, node_modules/ excluded ${both}, out/ ignored (respect_gitignore: false)`,
    );
    const without = await ok("search", { query: "one", use_default_excludes: false });
    expect(without).toContain("dist/built.js");
    expect(without).toContain("[not searched: node_modules/, out/ ignored (respect_gitignore: false)");
    const all = await ok("search", { query: "one", use_default_excludes: false, respect_gitignore: false });
    expect(all).toContain("node_modules/m/index.js");
    expect(all).toContain("out/log.txt");
    const ignored = await ok("search", { query: "one", respect_gitignore: false });
    expect(ignored).toContain("node_modules/ excluded (use_default_excludes: false)");
  });

  test.each([
    "node_modules",
    "node_modules/",
    "/node_modules/**",
    "**/node_modules/**",
    "./dist/**",
    "lib/*/dist/**",
  ])("the exclude glob %s, which default excludes cover, is not said to be without effect", async (glob) => {
    expect(await ok("search", { query: "one", exclude_globs: [glob] })).not.toContain("matched nothing");
  });

  test.each([["nope/**"], ["*.nope"], ["distant/**"]])("the exclude glob %s is", async (glob) => {
    expect(await ok("search", { query: "one", exclude_globs: [glob] })).toContain(
      `[matched nothing: exclude_globs ${JSON.stringify(glob)}]`,
    );
  });

  test("a glob is said to be without effect where default excludes are off", async () => {
    const args = { query: "one", exclude_globs: [".venv/**"], use_default_excludes: false };
    expect(await ok("search", args)).toContain('[matched nothing: exclude_globs ".venv/**"]');
  });

  test("a bad glob is refused in sentences with one full stop each", async () => {
    const text = await error("search", { query: "one", include_globs: ["[a"] });
    expect(text).toContain("for the character itself. Correct it,");
    expect(text).not.toContain("..");
  });

  test("the schema says how many context lines there may be, and what max_bytes counts", async () => {
    const { tools } = await connected.client.listTools();
    const { properties } = tools.find(({ name }) => name === "coder_search")!.inputSchema as never as {
      properties: Record<string, { description?: string }>;
    };
    for (const field of ["context_lines_before", "context_lines_after"]) {
      expect(properties[field]?.description).toBe("At most 10.");
      expect(await error("search", { query: "one", [field]: 11 })).toContain("10");
      expect(await ok("search", { query: "one", [field]: 10 })).toContain("a.txt");
    }
    expect(properties["max_bytes"]?.description).toContain("JSON");
  });
});

describe("what a change did", () => {
  const edit = (path: string, old_str: string, new_str: string) => ({
    path,
    ops: [{ op: "str_replace", old_str, new_str }],
  });

  test("an edit says that it kept CRLF, or what became of it", async () => {
    expect(await ok("update_file", edit("crlf.txt", "one", "1"))).toEndWith("\n2→two\n[CRLF kept]");
    expect(readFileSync(join(connected.base, "crlf.txt"), "latin1")).toBe("1\r\ntwo\r\n");
    expect(await ok("update_file", { ...edit("crlf.txt", "1", "one"), answer: "diff" })).toEndWith(
      "\n[CRLF kept]",
    );
    expect(await ok("update_file", edit("mixed.txt", "two", "2"))).toEndWith(
      "\n[mixed line ends: 1 CRLF, 1 LF]",
    );
    expect(await ok("update_file", edit("a.txt", "two", "2"))).toBe(
      "a.txt: 1 op applied, 2 lines now\n1→one\n2→2",
    );
    const remove = { path: "mixed.txt", ops: [{ op: "remove", from_line: 1, to_line: 1 }] };
    expect(await ok("update_file", remove)).toEndWith("\n[line ends are now LF]");
    const changes = [{ op: "update", ...edit("crlf.txt", "two", "2") }];
    expect(await ok("transact", { changes, dry_run: true })).toContain("\n[CRLF kept]\n");
  });

  test("a patch says that a new file has CRLF", async () => {
    const lines = ["--- /dev/null", "+++ b/new-crlf.txt", "@@ -0,0 +1,2 @@", "+one", "+two", ""];
    expect(await ok("apply_patch", { patch: lines.join("\r\n") })).toContain(
      "new-crlf.txt: added, 2 lines now\n[line ends are CRLF, as in the patch]",
    );
    expect(readFileSync(join(connected.base, "new-crlf.txt"), "latin1")).toBe("one\r\ntwo\r\n");
    const plain = lines.join("\n").replace("new-crlf", "new-lf");
    expect(await ok("apply_patch", { patch: plain })).not.toContain("line ends");
  });

  test("an insert of nothing is not taken for one of an empty line", async () => {
    const insert = (content: string) => ({ path: "empty.txt", ops: [{ op: "insert", at_line: 2, content }] });
    await ok("create_file", { path: "empty.txt", content: "one\ntwo\n" });
    const note = '[ops[0] inserted nothing, as its content is empty; "\\n" is an empty line]';
    expect(await ok("update_file", { ...insert(""), answer: "none" })).toBe(
      `empty.txt: 1 op applied, which changed nothing, 2 lines now\n${note}`,
    );
    expect(await ok("transact", { changes: [{ op: "update", ...insert("") }] })).toContain(`\n${note}\n`);
    expect(readFileSync(join(connected.base, "empty.txt"), "utf8")).toBe("one\ntwo\n");
    expect(await ok("update_file", insert("\n"))).not.toContain("inserted nothing");
    expect(readFileSync(join(connected.base, "empty.txt"), "utf8")).toBe("one\n\ntwo\n");
  });

  test("a removal says how many files were in the folder", async () => {
    const folder = { paths: ["lib"], recursive: true };
    const said = "lib: removed, with 3 files in it";
    expect(await ok("delete_file", { ...folder, dry_run: true })).toStartWith(said);
    expect(
      await ok("transact", { changes: [{ op: "delete", path: "lib", recursive: true }], dry_run: true }),
    ).toStartWith(said);
    expect(await ok("delete_file", folder)).toBe(said);
    expect(await ok("undo", {})).toContain("  restored: lib/deep/x.txt\n");
    const [newest] = (await ok("checkpoints", { limit: 1 })).split("\nOlder");
    expect(newest).toContain("  restored: lib/deep/x.txt");
    expect(newest).not.toContain("created");
    await ok("create_file", { path: "lone/one.txt", content: "" });
    expect(await ok("delete_file", { paths: ["lone"], recursive: true })).toBe(
      "lone: removed, with 1 file in it",
    );
    await ok("create_file", { path: "lone.txt", content: "" });
    expect(await ok("delete_file", { paths: ["lone.txt"] })).toBe("lone.txt: removed");
  });

  test("a conflict of revisions says what follows, and it does", async () => {
    const text = await error("update_file", {
      ...edit("a.txt", "one", "1"),
      expected_revision: `sha256:${"0".repeat(64)}`,
    });
    expect(text).not.toContain("`details`");
    expect(text).toMatch(
      /Its current revision and the lines in question follow: .*\ncurrent: sha256:[0-9a-f]{64}\n/,
    );
    expect(text).toContain("1→one");
  });
});

describe("what is not there", () => {
  const absent = (folder: string, path: string) =>
    `"${folder}", the folder of "${path}", is not found, or the configuration denies it, and \`parents\` is false. Nothing was made there. Leave \`parents\` out to have the folder made too.`;

  test.each([
    ["create_file", { path: "no/such/a.txt", content: "x", parents: false }],
    ["move", { files: [{ from: "a.txt", to: "no/such/a.txt", parents: false }] }],
    ["copy", { files: [{ from: "a.txt", to: "no/such/a.txt", parents: false }] }],
    ["transact", { changes: [{ op: "make-folder", path: "no/such/a.txt", parents: false }] }],
    ["transact", { changes: [{ op: "create", path: "no/such/a.txt", content: "x", parents: false }] }],
  ])("%s without parents says that the folder is missing", async (tool, args) => {
    const text = await error(tool, args);
    expect(text).toContain(absent("no/such", "no/such/a.txt"));
    expect(text).toContain("C211 no_such_path: ");
  });

  test("a folder that is denied behind a link is answered like a missing one", async () => {
    const text = await error("create_file", { path: "alias/key/a.txt", content: "x", parents: false });
    expect(text).toContain(absent("alias/key", "alias/key/a.txt"));
  });

  test("a missing source keeps its sentence", async () => {
    const text = await error("move", { files: [{ from: "none/a.txt", to: "b.txt", parents: false }] });
    expect(text).toContain('"none/a.txt" is not found, or');
    expect(text).not.toContain("parents");
  });

  test("a denied name has a reason of its own", async () => {
    expect(await error("read_file", { path: ".env" })).toStartWith(
      'C211 denied: ".env" matches the deny rule **/.env;',
    );
    expect(await error("read_file", { path: "alias/key" })).toStartWith("C211 no_such_path: ");
    expect(await error("read_file", { path: "none" })).toStartWith("C211 no_such_path: ");
  });

  test.each([
    ["cafe\u0301.txt", "caf\u00e9.txt", "U+00E9", "U+0065 U+0301"],
    ["zerowidth.txt", '"zero\\u200bwidth.txt"', "U+006F U+200B", "U+006F"],
  ])("a name that looks like %s is told apart by code points", async (sent, shown, found, instead) => {
    expect(await error("read_file", { path: sent })).toEndWith(
      ` Did you mean ${shown}? They look alike: ${shown} has ${found} where you sent ${instead}.`,
    );
  });

  test("a page after the last names that", async () => {
    expect(await ok("list_folder", { path: "lib", page: 3, page_size: 1 })).toBe(
      "[page 3: 0 of 2 entries; the last page is 2]",
    );
    expect(await ok("list_folder", { path: "lib", page: 2, page_size: 1 })).toBe(
      "link [link]\n[page 2: 1 of 2 entries]",
    );
  });
});

describe("an error leads to the call that works", () => {
  test.each<[tool: string, args: Record<string, unknown>, says: string]>([
    [
      "delete_file",
      { paths: ["holds"], recursive: true },
      'C211 denied: "holds" holds something that the deny rules let no call touch, so it cannot be deleted, moved or copied as a whole. Name what lies beside that by its own path.',
    ],
    ["move", { files: [{ from: "holds", to: "held" }] }, 'C211 denied: "holds" holds something'],
    ["apply_patch", { patch: "" }, "`patch` is missing or empty. Send the text of the patch."],
    ["apply_patch", {}, "Send the text of the patch."],
    [
      "update_file",
      { path: "a.txt", ops: [{ op: "str_replace", old_str: "O", new_str: "x" }] },
      'most like it is line 1 (50%), and it differs in upper and lower case. Line 1 is "one", and old_str has "O".',
    ],
    ["copy", { files: [{ from: "holds", to: "held" }] }, 'C211 denied: "holds" holds something'],
    ["read_file", { path: "a.txt/below" }, " a.txt is a file, so nothing is below it."],
    ["create_file", { path: "a.txt/b/c", content: "" }, " a.txt is a file, so nothing is below it."],
    ["read_file", { path: "lib\\deep\\x.txt" }, " Did you mean lib/deep/x.txt?"],
    [
      "read_file",
      { path: "long.txt", line_from: 1, line_to: 1 },
      "; line 1 alone takes 140001 bytes; find the",
    ],
    ["read_file", { path: "long.txt", tail: 1 }, "; line 1 alone takes 140001 bytes; find the"],
    ["search", { query: "x", sort: "newest" }, 'expected "path" or "modified".'],
    ["search", { query: "x", sort: "modifed" }, 'expected "path" or "modified". Did you mean "modified"?'],
    [
      "transact",
      { changes: [{ op: "move", path: "a.txt", to: "b.txt" }] },
      "`changes[0]` has no field `path`. Nothing was done. Send `from`, the path as it is, and `to`, the new one.",
    ],
    ["move", { path: "a.txt", to: "b.txt" }, "Send `from`, the path as it is, and `to`, the new one."],
    [
      "update_file",
      { path: "blanks.txt", old_str: "function add(a,b) {", new_str: "" },
      'and old_str has "function·add(a,b)·{" (· is a space).',
    ],
    [
      "update_file",
      { path: "ports.cmd", old_str: "set PORT=3000", new_str: "set PORT=4000" },
      'old_str is in "ports.cmd" 2 times, in lines 2, 5; send more of the lines around it, so that it is there once, or "replace_all": true.\ncandidate at line 2:\n1→echo dev\n2→set PORT=3000\n3→goto end\ncandidate at line 5:\n4→echo prod\n5→set PORT=3000\n6→goto end',
    ],
  ])("%s %j", async (tool, args, says) => {
    expect(await error(tool, args)).toContain(says);
  });

  test("a hunk that does not fit has its lines in the sentence alone", async () => {
    const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-uno\n+eins\n*** End Patch\n";
    const text = await error("apply_patch", { patch });
    expect(text).toContain("(lines 4 to 5 of the patch)");
    expect(text).not.toContain("patch_lines");
  });

  test("each file of a batch has its heading, also one that failed", async () => {
    expect(await error("read_file", { paths: ["a.txt", "none.txt"] })).toMatch(
      /\n==> none\.txt\nC211 no_such_path: "none\.txt" is not found/,
    );
  });

  test("a path that was not there may have been meant otherwise", async () => {
    expect(await ok("delete_file", { paths: ["*.tmp", "a.txt/", "gone.txt"] })).toBe(
      [
        "*.tmp: was not there (a path and not a glob; a search with include_globs lists the paths that match)",
        'a.txt/: was not there (with "/" at its end it is a folder)',
        "gone.txt: was not there",
      ].join("\n"),
    );
  });

  test("a file that may have been there was written, and one byte is one", async () => {
    const file = { path: "one-byte.txt", content: "1", overwrite: true };
    expect(await ok("create_file", file)).toBe("one-byte.txt: written, 1 byte");
    expect(await ok("transact", { changes: [{ op: "create", ...file, content: "2" }] })).toStartWith(
      "one-byte.txt: written, 1 byte",
    );
    expect(await ok("create_file", { path: "other.txt", content: "12" })).toBe("other.txt: created, 2 bytes");
  });

  test("a file that is replaced is said to be, also before it is", async () => {
    await ok("create_file", { path: "kept/a.txt", content: "a\n" });
    const files = [{ from: "kept/a.txt", to: "kept/b.txt", overwrite: true }];
    expect(await ok("copy", { files })).toBe("kept/a.txt: copied to kept/b.txt");
    expect(await ok("copy", { files })).toBe("kept/b.txt: is there already, equal to kept/a.txt");
    await ok("create_file", { path: "kept/b.txt", content: "other\n", overwrite: true });
    const said = "kept/a.txt: copied to kept/b.txt, replacing the file that was there";
    expect(await ok("copy", { files })).toBe(said);
    const moved = said.replace("copied", "moved");
    expect(await ok("move", { files, dry_run: true })).toStartWith(moved);
    expect(await ok("transact", { changes: [{ op: "move", ...files[0] }], dry_run: true })).toStartWith(
      moved,
    );
    expect(await ok("move", { files })).toBe(moved);
    const patch = "*** Begin Patch\n*** Add File: kept/b.txt\n+b\n*** End Patch\n";
    expect(await ok("apply_patch", { patch, overwrite: true })).toStartWith(
      "kept/b.txt: added, replacing the file that was there, 1 line now",
    );
    const mode = "diff --git a/kept/b.txt b/kept/b.txt\nold mode 100644\nnew mode 100755\n";
    expect(await ok("apply_patch", { patch: mode })).toStartWith("kept/b.txt: modified, mode 0755, ");
  });

  test("a link that dangles or leads outside is deleted, moved and copied itself", async () => {
    const link = (path: string) => lstatSync(join(connected.base, path)).isSymbolicLink();
    expect(await error("read_file", { path: "away" })).toBe(
      'C215 outside: "away" is a symbolic link that leads outside, dangles or loops, so no call goes through it. The link itself can be deleted, moved or copied.',
    );
    expect(await error("delete_file", { paths: ["away/passwd"], recursive: true })).toContain("C215 outside");
    expect(await ok("move", { files: [{ from: "dangling", to: "lib2/dangling" }] })).toStartWith(
      "dangling: ",
    );
    expect(await ok("copy", { files: [{ from: "away", to: "lib2/away" }] })).toStartWith("away: copied");
    expect([link("lib2/dangling"), link("lib2/away"), link("away")]).toEqual([true, true, true]);
    const paths = ["away", "lib2/away", "lib2/dangling"];
    expect(await ok("delete_file", { paths, recursive: true })).toBe(
      paths.map((path) => `${path}: removed`).join("\n"),
    );
    expect(await ok("undo", {})).toContain("  restored: away\n");
    expect([link("lib2/dangling"), link("lib2/away"), link("away")]).toEqual([true, true, true]);
    const changes = paths.map((path) => ({ op: "delete", path }));
    expect(await ok("transact", { changes })).toBe(paths.map((path) => `${path}: removed`).join("\n"));
    expect(existsSync("/etc/passwd")).toBe(true);
  });

  test("a binary is edited without its lines, and all of a file is shown on request", async () => {
    writeFileSync(join(connected.base, "blob.bin"), Buffer.from("\0\x01\n\xff\n", "latin1"));
    const ops = [{ op: "insert", at_line: 1, content: "x" }];
    const note = "[binary, so its lines are not shown]";
    expect(await ok("update_file", { path: "blob.bin", ops })).toBe(
      `blob.bin: 1 op applied, 3 lines now\n${note}`,
    );
    expect(await ok("update_file", { path: "kept/b.txt", ops, answer: "bodies" })).toBe(
      "kept/b.txt: 1 op applied, 2 lines now\n1→x\n2→b",
    );
  });

  test("undos that take each other back leave no checkpoint", async () => {
    await ok("create_file", { path: "undone.txt", content: "1" });
    await ok("undo", {});
    const { text, isError } = await call("undo", { steps: 2 });
    expect([text.split("\n").slice(2), isError]).toEqual([
      [
        "Nothing was undone: these took each other back, since an undo is a checkpoint too. Send the seq of the one to undo.",
      ],
      false,
    ]);
  });

  test("a replacement that matched nothing says what would", async () => {
    const replacing = (pattern: string) => ({
      path: "ports.cmd",
      ops: [{ op: "replace", pattern, replacement: "$0" }],
    });
    expect(await error("update_file", replacing("dev.*end"))).toContain(
      'ops[0]: `pattern` matches nothing in "ports.cmd": its . matches no line end; with "dot_matches_newline": true it matches once. Nothing was written.',
    );
    expect(await error("update_file", replacing("Port"))).toContain(
      ': it matches case-sensitively; with "ignore_case": true it matches 2 times.',
    );
    expect(await error("update_file", replacing("none"))).toContain(
      '`pattern` matches nothing in "ports.cmd". Nothing was written. Send a pattern that matches, or "expect_matches": 0',
    );
    expect(await error("update_file", { ...replacing("none"), answer: "none" })).toContain("matches nothing");
    expect(await ok("update_file", { ...replacing("set"), answer: "none" })).toContain("1 op applied");
    const none = { ...replacing("none").ops[0], expect_matches: 0 };
    expect(await ok("update_file", { path: "ports.cmd", ops: [none] })).toEndWith(
      "(ops[0] replaced nothing), 6 lines now",
    );
  });

  test("a name with a star is searched as a text", async () => {
    expect(await ok("search", { query: "*.cmd", search_content: false })).toContain(
      '; globs go in "include_globs"',
    );
  });

  test("a plan that is carried out does not show its lines again", async () => {
    const planned = await ok("replace", { query: "goto end", replacement: "exit", dry_run: true });
    expect(planned).toContain("\n3→exit");
    const plan = /plan (\w{32})/.exec(planned)![1];
    expect(await ok("commit", { plan })).toMatch(/^2 matches in 1 file replaced\nports\.cmd: 2 matches$/);
    const changes = [{ op: "update", path: "ports.cmd", ops: [{ old_str: "dev", new_str: "test" }] }];
    const again = /plan (\w{32})/.exec(await ok("transact", { changes, dry_run: true }))![1];
    expect(await ok("commit", { plan: again })).toMatch(/^ports\.cmd: 1 op applied, 6 lines now$/);
  });
});

describe("changes without since", () => {
  test("by others say from when on those are known", async () => {
    expect(await ok("changes", { by: "others", answer: "diff" })).toBe(
      "[nothing differs]\n[changes of other programs are known only from this call on]",
    );
  });

  test("cover the session", async () => {
    await using own = await connectStdio("executable", { tree: { "a.txt": "a\n" } });
    await own.call("coder_create_file", { path: "b.txt", content: "" });
    await own.call("coder_move", { files: [{ from: "a.txt", to: "c.txt" }] });
    const note = (start: string) =>
      `[since this session began; changes of other programs are known only from ${start} on]`;
    const lines = ["created: b.txt (coder_create_file)", "moved: a.txt to c.txt (coder_move)"];
    const first = textOf(await own.call("coder_changes", {})).split("\n");
    expect(first.slice(0, -1)).toEqual([...lines, note("this call")]);
    const since = /since (\S+) for/.exec(first.at(-1)!)![1];
    expect(textOf(await own.call("coder_changes", { since }))).toStartWith("[no changes]\n[since ");
    expect(
      textOf(await own.call("coder_changes", {}))
        .split("\n")
        .slice(0, -1),
    ).toEqual([...lines, note("the first call of coder_changes")]);
    expect(textOf(await own.call("coder_changes", { limit: 1 })).split("\n")[0]).toBe(lines[0]!);
  });

  test("begin with the first call in the profile contract", async () => {
    await using own = await connectStdio("executable", {
      tree: { "a.txt": "a\n" },
      config: { profile: "contract" },
    });
    await own.call("coder_delete_file", { paths: ["a.txt"] });
    expect(textOf(await own.call("coder_changes", {}))).toStartWith("[changes are listed from now on; ");
  });
});

describe("what no one needs to see", () => {
  test("a conflict of revisions about a whole file shows none of its lines", async () => {
    const expected_revision = `sha256:${"0".repeat(64)}`;
    const mismatch =
      /"links\/real\/b\.txt" has another revision than the call expects\..* Its current revision follows\. Read the file, and repeat the call with that revision if it is still right\.\ncurrent: sha256:[0-9a-f]{64}\nsize: 2$/;
    const path = "links/real/b.txt";
    const expected_revisions = { [path]: expected_revision };
    expect(await error("delete_file", { paths: [path], expected_revisions })).toMatch(mismatch);
    for (const tool of ["move", "copy"])
      expect(await error(tool, { from: path, to: "c", expected_revision })).toMatch(mismatch);
    const creation = { path, content: "x", overwrite: true, expected_revision };
    expect(await error("create_file", creation)).toMatch(mismatch);
    for (const change of [
      { op: "delete", path, expected_revision },
      { op: "create", ...creation },
      { op: "move", from: path, to: "c", expected_revision },
    ])
      expect(await error("transact", { changes: [change] })).toMatch(mismatch);
  });

  test("errors show no lines of a binary file", async () => {
    const shown = "The file is binary, so its lines are not shown.";
    const ops = [{ op: "str_replace", old_str: "KEY", new_str: "k" }];
    const twice = await error("update_file", { path: "binary", ops });
    expect(twice).toBe(
      `C210 ambiguous: ops[0]: old_str is in "binary" 2 times, in lines 1, 2; send more of the lines around it, so that it is there once, or "replace_all": true. ${shown}`,
    );
    const patch = "*** Begin Patch\n*** Update File: binary\n-\u0001KEY\n+k\n*** End Patch\n";
    const unclear = await error("apply_patch", { patch });
    expect(unclear).toEndWith(shown);
    expect(unclear).not.toContain("\0");
  });

  test("an op with an empty content says that it put nothing in", async () => {
    await ok("create_file", { path: "three.txt", content: "a\nb\nc\n" });
    const ops = [{ op: "update_lines", from_line: 1, to_line: 2, content: "" }];
    expect(await ok("update_file", { path: "three.txt", ops })).toEndWith(
      '\n[ops[0] removed its lines, as its content is empty; "\\n" is an empty line]',
    );
  });

  test("a plan whose new file exists by now names it", async () => {
    const changes = [
      { op: "create", path: "planned/a", content: "a" },
      { op: "create", path: "planned/b", content: "b" },
    ];
    const [, plan] = /^plan (\w+)$/m.exec(await ok("transact", { changes, dry_run: true })) ?? [];
    await ok("create_file", { path: "planned/b", content: "other" });
    const text = await error("commit", { plan });
    expect(text).toEndWith("commit the new plan.\npaths: planned/b");
  });
});

describe("links", () => {
  const lines = (...all: string[]) => `${all.join("\n")}\n`;
  const v4a = (...all: string[]) => lines("*** Begin Patch", ...all, "*** End Patch");
  const link = (path: string) => readlinkSync(join(connected.base, path));
  const text = (path: string) => readFileSync(join(connected.base, path), "utf8");

  test("an edit through a link names the file that it has changed", async () => {
    const note = "[through a link: the file is links/real/a.txt]";
    const ops = (from: string, to: string) => [{ op: "str_replace", old_str: from, new_str: to }];
    for (const path of ["links/l", "links/folder/a.txt", join(connected.base, "links/l")]) {
      expect(await ok("update_file", { path, ops: ops("one", "uno") })).toEndWith(`\n${note}`);
      expect(await ok("update_file", { path, ops: ops("uno", "one"), answer: "bodies" })).toEndWith(note);
    }
    for (const path of [
      "links/real/a.txt",
      "./links/../links/real/a.txt",
      join(connected.base, "links/real/a.txt"),
    ])
      for (const replacing of [ops("two", "dos"), ops("dos", "two")])
        expect(await ok("update_file", { path, ops: replacing })).not.toContain("link:");
    expect(await ok("apply_patch", { patch: v4a("*** Update File: links/l", "-two", "+dos") })).toEndWith(
      note,
    );
    const changes = [{ op: "update", path: "links/l", ops: ops("dos", "two") }];
    expect(await ok("transact", { changes })).toContain(note);
    expect(text("links/real/a.txt")).toBe("one\ntwo\n");
  });

  test("a file that is created or written through a link is named", async () => {
    const note = "[through a link: the file is links/real/a.txt]";
    const write = { path: "links/l", content: "one\ntwo\n", overwrite: true };
    const other = { ...write, content: "other\n" };
    for (const file of [other, write, write, { ...other, dry_run: true }])
      expect(await ok("create_file", file)).toContain(`\n${note}`);
    expect(await ok("transact", { changes: [{ op: "create", ...other }] })).toContain(`\n${note}`);
    expect(await ok("create_file", { ...write, path: "links/real/a.txt" })).not.toContain("link:");
    const created = "[through a link: the file is links/real/new.txt]";
    const add = v4a("*** Add File: links/folder/new.txt", "+new");
    const made = { path: "links/folder/new.txt", content: "new\n" };
    for (const isTrial of [true, false]) {
      expect(await ok("create_file", { ...made, dry_run: isTrial })).toContain(`\n${created}`);
      if (!isTrial) await ok("delete_file", { paths: ["links/real/new.txt"] });
      expect(await ok("apply_patch", { patch: add, dry_run: isTrial })).toContain(`\n${created}`);
      if (!isTrial) await ok("delete_file", { paths: ["links/real/new.txt"] });
    }
  });

  test("a move or copy into a linked folder names the new path", async () => {
    const said = (name: string) => `\n[through a link: the new path is links/real/${name}]`;
    const copy = { from: "links/real/a.txt", to: "links/folder/copy.txt" };
    expect(await ok("copy", { ...copy, dry_run: true })).toContain(`${copy.to}${said("copy.txt")}`);
    expect(await ok("copy", copy)).toContain(`${copy.to}${said("copy.txt")}`);
    const move = { from: "links/real/copy.txt", to: "links/folder/moved.txt" };
    expect(await ok("transact", { changes: [{ op: "move", ...move }] })).toContain(said("moved.txt"));
    const plain = { from: "links/real/moved.txt", to: "links/real/copy.txt" };
    expect(await ok("move", plain)).not.toContain("through a link");
    await ok("delete_file", { paths: ["links/real/copy.txt"] });
  });

  test("a patch does not change the target of a link and move the link", async () => {
    const refusal =
      'C210 invalid_argument: Nothing was changed. "links/l" is a symbolic link: the patch would change the file it leads to, and give only the link another path. Name the file itself, "links/real/a.txt", in the patch, or send the change and the new path in two patches.';
    const move = v4a("*** Update File: links/l", "*** Move to: links/real/l", "@@", "-two", "+dos");
    expect(await error("apply_patch", { patch: move })).toBe(refusal);
    for (const verb of ["rename", "copy"]) {
      const head = ["diff --git a/links/l b/links/m", `${verb} from links/l`, `${verb} to links/m`];
      const hunk = ["--- a/links/l", "+++ b/links/m", "@@ -2 +2 @@", "-two", "+dos"];
      expect(await error("apply_patch", { patch: lines(...head, ...hunk) })).toBe(refusal);
      const modes = ["old mode 100644", "new mode 100755"];
      expect(await error("apply_patch", { patch: lines(head[0]!, ...modes, ...head.slice(1)) })).toBe(
        refusal,
      );
    }
    const swap = ["l", "real/b.txt"].map((from, at, both) => {
      const to = both[1 - at]!;
      return `diff --git a/links/${from} b/links/${to}\nrename from links/${from}\nrename to links/${to}\n`;
    });
    expect(await error("apply_patch", { patch: swap.join("") })).toContain('"links/l" is a symbolic link');
    expect([link("links/l"), text("links/real/a.txt")]).toEqual(["real/a.txt", "one\ntwo\n"]);
  });

  test("a link that loses its target by a move or a copy is said to lead nowhere", async () => {
    const note = "\n[the link leads nowhere from its new place]";
    expect(await ok("copy", { from: "links/l", to: "links/real/l" })).toBe(
      `links/l: copied to links/real/l${note}`,
    );
    expect(await ok("move", { from: "links/l", to: "m" })).toBe(`links/l: moved to m${note}`);
    expect(await ok("move", { from: "m", to: "links/l" })).toBe("m: moved to links/l");
    const changes = [{ op: "move", from: "links/l", to: "m" }];
    expect(await ok("transact", { changes, dry_run: true })).toContain(`links/l: moved to m${note}\nplan `);
    const patch = lines("diff --git a/links/l b/m", "rename from links/l", "rename to m");
    expect(await ok("apply_patch", { patch })).toContain(`m: moved from links/l${note}`);
    expect(await ok("move", { from: "m", to: "links/l" })).toBe("m: moved to links/l");
  });
});
