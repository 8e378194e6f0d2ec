/** The texts of errors and answers for models. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Tree } from "../harness/tree.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

const tree: Tree = {
  "a.txt": "one\ntwo\n",
  "sub/b.txt": "three\n",
  "wide/1": "",
  "wide/2": "",
  ".env": "SECRET=1",
};

describe.each([[[]], [["--structured"]]])("coder mcp %j", (args) => {
  let connected: McpFixture;
  const call = (tool: string, request: Record<string, unknown>) => connected.call(tool, request);

  beforeAll(async () => {
    connected = await connectStdio("executable", { tree, args });
  });
  afterAll(() => connected[Symbol.asyncDispose]());

  /** Returns all text of a result that a model may see, without fields whose values are ids. */
  const shown = (result: CallToolResult): string =>
    JSON.stringify([result.content, result.structuredContent ?? {}], (key, value) =>
      key === "function_id" || key === "functions" ? undefined : value,
    );

  test("the list and the instructions name functions as tools", async () => {
    const list = JSON.stringify(await connected.client.listTools());
    expect(/coder::\w/.exec(list)).toBeNull();
    expect(connected.client.getInstructions()).not.toContain("coder::");
  });

  test.each([
    ["coder_create_file", { path: "wide", content: "" }, "already_exists"],
    ["coder_move", { files: [{ from: "sub", to: "wide" }] }, "already_exists"],
    ["coder_move", { files: [{ from: "sub", to: "wide", overwrite: true }] }, "wrong_kind"],
    ["coder_copy", { files: [{ from: "a.txt", to: "wide", overwrite: true }] }, "wrong_kind"],
    ["coder_transact", { changes: [{ op: "create", path: "wide", content: "" }] }, "already_exists"],
  ])("%s %j does not advise to overwrite a folder", async (tool, request, reason) => {
    const text = textOf(await call(tool, request));
    expect(text).toContain(reason);
    expect(text).toContain(" is a folder, and nothing replaces a folder; send a path inside it");
    expect(text).not.toContain("overwrite");
  });

  const calls: [tool: string, request: Record<string, unknown>][] = [
    ["coder_read_file", { path: "missing" }],
    ["coder_read_file", { path: "sub" }],
    ["coder_read_file", { paths: ["missing", "a.txt"] }],
    ["coder_list_folder", { path: "a.txt" }],
    ["coder_create_file", { path: "a.txt", content: "" }],
    ["coder_update_file", { path: "a.txt", ops: [{ op: "str_replace", old_str: "none", new_str: "x" }] }],
    ["coder_move", { files: [{ from: "missing", to: "x" }] }],
    ["coder_tree", { path: "wide", per_folder_limit: 1 }],
    ["coder_create_file", { path: "new.txt", content: "n\n" }],
    ["coder_undo", { seq: 99 }],
    ["coder_checkpoints", {}],
    ["coder_info", {}],
    [
      "coder_transact",
      {
        changes: [
          { op: "delete", path: "a.txt" },
          { op: "copy", from: "missing", to: "x" },
        ],
      },
    ],
    [
      "coder_transact",
      {
        changes: [
          { op: "update", path: "missing", ops: [{ op: "remove", from_line: 1, to_line: 1 }] },
          { op: "update", path: "sub", ops: [{ op: "remove", from_line: 1, to_line: 1 }] },
        ],
      },
    ],
  ];

  test.each(calls)("%s %j names functions as tools", async (tool, request) => {
    const text = shown(await call(tool, request));
    expect(text).not.toContain("coder::");
    expect(text).not.toContain("operator");
  });

  test("changes names the tool that caused them", async () => {
    const next = /since (\S+) for/.exec(textOf(await call("coder_changes", {})))?.[1];
    await call("coder_create_file", { path: "caused.txt", content: "" });
    const changed = await call("coder_changes", { since: next });
    expect(textOf(changed)).toContain("created: caused.txt (coder_create_file)");
  });
});

describe("a call that failed in part, or as a whole", () => {
  let connected: McpFixture;
  const call = async (tool: string, request: Record<string, unknown>) => {
    const result = await connected.call(tool, request);
    expect(result.isError).toBe(true);
    return textOf(result).split("\n");
  };
  const edit = (path: string) => ({
    path,
    ops: [{ op: "str_replace", old_str: "one", new_str: "one", expect_matches: 9 }],
  });
  const append = (path: string) => ({ path, ops: [{ op: "insert", at_line: 1, content: "x" }] });

  beforeAll(async () => {
    connected = await connectStdio("executable", { tree, args: ["--tools", "all"] });
  });
  afterAll(() => connected[Symbol.asyncDispose]());

  const batches: [tool: string, request: Record<string, unknown>, first: string][] = [
    [
      "coder_update_file",
      { files: [append("a.txt"), append("no.txt"), append("sub/b.txt")] },
      "2 of 3 changed; failed: no.txt",
    ],
    [
      "coder_update_file",
      { files: [append("a.txt"), append("no.txt")], dry_run: true },
      "1 of 2 would be changed; failed: no.txt",
    ],
    [
      "coder_update_file",
      { files: [edit("a.txt"), edit("no.txt")] },
      "0 of 2 changed; failed: a.txt, no.txt",
    ],
    [
      "coder_create_file",
      {
        files: [
          { path: "a.txt", content: "" },
          { path: "c.txt", content: "" },
        ],
      },
      "1 of 2 created; failed: a.txt",
    ],
    ["coder_read_file", { paths: ["a.txt", "no.txt"] }, "1 of 2 read; failed: no.txt"],
    ["coder_delete_file", { paths: ["wide/1", "wide", "gone"] }, "1 of 3 deleted; failed: wide"],
    [
      "coder_move",
      {
        files: [
          { from: "no.txt", to: "x" },
          { from: "wide/2", to: "wide/3" },
        ],
      },
      "1 of 2 moved; failed: no.txt",
    ],
    [
      "coder_copy",
      {
        files: [
          { from: "no\n.txt", to: "x" },
          { from: "a.txt", to: "y" },
        ],
      },
      '1 of 2 copied; failed: "no\\n.txt"',
    ],
    ["coder_make_folder", { paths: ["a.txt", "folder"] }, "1 of 2 created; failed: a.txt"],
    [
      "coder_delete_file",
      { paths: Array.from({ length: 7 }, (_, index) => `${index}/.env`) },
      "0 of 7 deleted; failed: 0/.env, 1/.env, 2/.env, 3/.env, 4/.env and 2 more",
    ],
  ];

  test.each(batches)("%s %j says first what was done and what failed", async (tool, request, first) => {
    expect((await call(tool, request))[0]).toBe(first);
  });

  test("one entry alone has no summary", async () => {
    expect((await call("coder_update_file", { files: [append("no.txt")] }))[0]).toStartWith("C211 ");
  });

  test.each([false, true])(
    "a transaction says that nothing was changed, and which change failed (%p)",
    async (dry_run) => {
      const changes = [
        { op: "create", path: "new.txt", content: "" },
        { op: "update", ...append("a.txt") },
        { op: "move", from: "no.txt", to: "x" },
        { op: "delete", path: "a.txt" },
      ];
      const [first, ...details] = await call("coder_transact", { changes, dry_run });
      expect(first).toStartWith(
        'C211 no_such_path: Nothing was changed. Change 3 of 4 ("no.txt"): "no.txt" is not found',
      );
      expect(details).toEqual([]);
      expect((await connected.call("coder_read_file", { path: "new.txt" })).isError).toBe(true);
    },
  );

  test("all changes and ops that fail are named, but for those that follow on one that fails", async () => {
    const replace = (old_str: string, new_str: string) => ({ op: "str_replace", old_str, new_str });
    const [head, ...others] = await call("coder_transact", {
      changes: [
        { op: "create", path: "kept.txt", content: "" },
        { op: "delete", path: "no/a.txt" },
        { op: "update", path: "no/b.txt", ops: [replace("a", "b")] },
        { op: "move", from: "no/b.txt", to: "found.txt" },
        { op: "create", path: "found.txt/below", content: "" },
        { op: "copy", from: "a.txt", to: "sub/b.txt" },
        { op: "chmod", path: "wide", mode: "0755" },
        {
          op: "update",
          path: "a.txt",
          ops: [
            replace("zero", "null"),
            replace("null", "nil"),
            replace("seven", "7"),
            { op: "remove", from_line: 70, to_line: 70 },
            replace("nil", "nothing"),
          ],
        },
      ],
    });
    expect(head).toStartWith(
      'C211 no_such_path: Nothing was changed. Change 3 of 8 ("no/b.txt"): "no/b.txt"',
    );
    expect(others).toEqual([
      expect.stringMatching(/^Change 6 of 8 \("a\.txt"\): "sub\/b\.txt" exists already/),
      expect.stringMatching(/^Change 8 of 8 \("a\.txt"\): ops\[3\] covers lines 70 to 70/),
      'ops[0]: old_str is not in "a.txt", nor anything like it; read the file with coder_read_file, and send text that is there.',
      'ops[2]: old_str is not in "a.txt", nor anything like it; read the file with coder_read_file, and send text that is there.',
      'Change 4 of 8 ("no/b.txt"): not checked, since it is about a path of a change that fails.',
      'Change 5 of 8 ("found.txt/below"): not checked, since it is about a path of a change that fails.',
    ]);
    expect(await call("coder_read_file", { path: "kept.txt" })).toHaveLength(1);
  });

  test("at most ten failing changes are named", async () => {
    const changes = Array.from({ length: 15 }, (_, index) => ({
      op: "chmod",
      path: `none/${index}`,
      mode: "0600",
    }));
    const lines = await call("coder_transact", { changes });
    expect(lines).toHaveLength(11);
    expect(lines[0]).toContain('Change 1 of 15 ("none/0"): ');
    expect(lines[9]).toStartWith('Change 10 of 15 ("none/9"): ');
    expect(lines[10]).toBe("The changes after these were not checked.");
  });

  test("all files of a patch that fail are named", async () => {
    const update = (path: string) => `*** Update File: ${path}\n@@\n-nowhere\n+x\n`;
    const patch = `*** Begin Patch\n${update("a.txt")}${update("no.txt")}*** Add File: new.txt\n+x\n${update("sub/b.txt")}*** End Patch\n`;
    const lines = await call("coder_apply_patch", { patch });
    expect(lines.map((line) => line.slice(0, 40))).toEqual([
      expect.stringContaining("Nothing was changed. "),
      expect.stringContaining('File 2 of 4 ("no.txt"): "no.txt"'),
      expect.stringContaining('File 4 of 4 ("sub/b.txt"): Hunk 1'),
    ]);
  });

  test("a patch says it of its file", async () => {
    const patch = "*** Begin Patch\n*** Add File: p.txt\n+x\n*** Delete File: no.txt\n*** End Patch\n";
    const [first] = await call("coder_apply_patch", { patch });
    expect(first).toStartWith('C211 no_such_path: Nothing was changed. File 2 of 2 ("no.txt"): ');
  });
});

describe("a path where nothing is", () => {
  let connected: McpFixture;
  const errorOf = async (path: string, more: Record<string, unknown> = {}) => {
    const result = await connected.call("coder_read_file", { path, ...more });
    expect(result.isError).toBe(true);
    return textOf(result).replace(
      /^C211 no_such_path: ".*?" is not found, or the configuration denies it/,
      "",
    );
  };
  const done = async (tool: string, request: Record<string, unknown>) => {
    expect((await connected.call(tool, request)).isError).toBeUndefined();
  };
  const plain = "; list its folder with coder_list_folder to see what is there.";

  beforeAll(async () => {
    const config = { non_accessible_globs: ["**/.env", "secret/**", "**/hidden.ts"] };
    connected = await connectStdio("executable", {
      config,
      tree: {
        "Src/Main.ts": "main\n",
        "src/router/index.ts": "index\n",
        "lib/util.ts": "util\n",
        "lib/deep/util.ts": "util\n",
        "secret/util.ts": "",
        "other/Hidden.ts": "",
        "other/hidden.ts": "",
        "caf\u00e9.txt": "",
        "moved/a.ts": "a\n",
        "gone/b.ts": "b\n",
        "twice.ts": "",
        ".env": "",
        alias: { link: ".env" },
      },
    });
    await done("coder_search", { query: "main" });
    await done("coder_move", { files: [{ from: "moved", to: "lib/moved" }] });
    await done("coder_delete_file", { paths: ["gone"], recursive: true });
    await done("coder_move", { files: [{ from: "twice.ts", to: "once.ts" }] });
    await done("coder_move", { files: [{ from: "once.ts", to: "lib/once.ts" }] });
  });
  afterAll(() => connected[Symbol.asyncDispose]());

  test("is asked for in another case, or another form of Unicode", async () => {
    expect(await errorOf("Src/main.ts")).toBe(". Did you mean Src/Main.ts?");
    expect(await errorOf("SRC/MAIN.TS")).toBe(". Did you mean Src/Main.ts?");
    expect(await errorOf("cafe\u0301.txt")).toBe(
      ". Did you mean caf\u00e9.txt? They look alike: caf\u00e9.txt has U+00E9 where you sent U+0065 U+0301.",
    );
  });

  test("is elsewhere, as the list of the watched tree knows: the nearest first, at most three, none that is denied", async () => {
    await waitUntilListed();
    expect(await errorOf("src/util.ts")).toBe(". Did you mean lib/util.ts or lib/deep/util.ts?");
    expect(await errorOf("src/deep/util.ts")).toBe(". Did you mean lib/deep/util.ts or lib/util.ts?");
    expect(await errorOf("src/routes/index.ts")).toBe(". Did you mean src/router/index.ts?");
    expect(await errorOf("src/Hidden.ts")).toBe(". Did you mean other/Hidden.ts?");
  });

  test("has a similar name, names several files, or has a slash behind the name of a file", async () => {
    await waitUntilListed();
    expect(await errorOf("Src/Mains.ts")).toBe(". Did you mean Src/Main.ts?");
    expect(await errorOf("Srcs/Main.ts")).toBe(". Did you mean Src/Main.ts?");
    expect(await errorOf("caf\u00e9.md")).toBe(". Did you mean caf\u00e9.txt?");
    expect(await errorOf("lib/util.ts/")).toBe('. lib/util.ts is a file; leave out the "/" at its end.');
    expect(await errorOf("lib/util.ts, Src/Main.ts")).toBe(
      ". These are 2 paths: lib/util.ts and Src/Main.ts. Send each by itself.",
    );
    expect(await errorOf(".env.ts")).not.toContain(".env?");
    expect(await errorOf("quite/different.ts")).toStartWith("; list its folder");
  });

  /** Searches until a suggestion shows that the tree is listed. The first search begins the list. */
  async function waitUntilListed() {
    while ((await errorOf("src/util.ts")) === plain) await connected.call("coder_search", { query: "main" });
  }

  test("was moved or deleted by a call", async () => {
    expect(await errorOf("moved/a.ts")).toBe(". It was moved to lib/moved/a.ts by #1.");
    expect(await errorOf("twice.ts")).toBe(". It was moved to lib/once.ts by #4.");
    expect(await errorOf("gone/b.ts")).toBe('. It was deleted by #2; coder_undo {"seq":2} brings it back.');
    await done("coder_undo", { seq: 2 });
    expect(textOf(await connected.call("coder_read_file", { path: "gone/b.ts" }))).toStartWith("b\n");
    // The undo of a creation deletes the folder that another program has emptied.
    await done("coder_create_file", { path: "emptied/c.ts", content: "c\n" });
    rmSync(join(connected.base, "emptied/c.ts"));
    await done("coder_undo", {});
    expect(await errorOf("emptied/c.ts")).not.toContain("deleted by");
    // A deletion that was undone does not count.
    await done("coder_delete_file", { paths: ["lib/once.ts"] });
    expect(await errorOf("twice.ts")).toContain("It was moved by #4, and deleted by #");
    await done("coder_undo", {});
    expect(await errorOf("twice.ts")).toBe(". It was moved to lib/once.ts by #4.");
  });

  test("is denied behind a link, in the same words, or as it was sent, with the rule", async () => {
    expect(await errorOf("alias")).toBe(plain);
    expect(await errorOf("nowhere")).toBe(plain);
    expect(await errorOf("secret/util.ts")).toBe(
      'C211 denied: "secret/util.ts" matches the deny rule secret/**; no call reads or changes such names, whether they exist or not.',
    );
  });

  test("is limited by fs_scope, which holds for what is said too", async () => {
    await waitUntilListed();
    expect(await errorOf("x/util.ts", { fs_scope: { root: "src" } })).toBe(plain);
    expect(await errorOf("x/util.ts", { fs_scope: { root: "lib" } })).toBe(
      ". Did you mean util.ts or deep/util.ts?",
    );
  });

  test("is named in a transaction too", async () => {
    const changes = [
      { op: "delete", path: "Src/Main.ts" },
      { op: "copy", from: "moved/a.ts", to: "x" },
    ];
    const result = await connected.call("coder_transact", { changes });
    expect(textOf(result)).toBe(
      'C211 no_such_path: Nothing was changed. Change 2 of 2 ("moved/a.ts"): "moved/a.ts" is not found, or the configuration denies it. It was moved to lib/moved/a.ts by #1.',
    );
  });
});

describe("undo and changes", () => {
  let connected: McpFixture;
  const lines = async (tool: string, request: Record<string, unknown>) =>
    textOf(await connected.call(tool, request)).split("\n");
  const write = async (path: string, content: string) => {
    const files = [{ path, content, overwrite: true }];
    expect((await connected.call("coder_create_file", { files })).isError).toBeUndefined();
  };

  beforeAll(async () => {
    connected = await connectStdio("executable", { tree: { "there.txt": "0\n" } });
  });
  afterAll(() => connected[Symbol.asyncDispose]());

  test("changes without since says that it begins with the session", async () => {
    const [none, said, next] = await lines("coder_changes", {});
    expect(none).toBe("[no changes]");
    expect(said).toBe(
      "[since this session began; changes of other programs are known only from this call on]",
    );
    const since = /since (\S+) for/.exec(next!)?.[1];
    expect((await lines("coder_changes", { since }))[0]).toBe("[no changes]");
  });

  test("a conflict names the later checkpoint that caused it, or another program", async () => {
    await write("a.txt", "1\n");
    await write("a.txt", "2\n");
    const nothing = 'Nothing was undone; send coder_undo {"seq":2,"force":true} to undo over conflicts.';
    expect(await lines("coder_undo", { seq: 1 })).toEqual([
      "conflict: a.txt is not what #1 left there: #2 has changed it since",
      'Nothing was undone; send coder_undo {"seq":2}, then coder_undo {"seq":1}, or coder_undo {"seq":1,"force":true} to undo over conflicts.',
    ]);
    writeFileSync(join(connected.base, "a.txt"), "3\n");
    expect(await lines("coder_undo", { seq: 2 })).toEqual([
      "conflict: a.txt is not what #2 left there: a command or another program has changed it since",
      nothing,
    ]);
    expect(await lines("coder_undo", { seq: 1 })).toContain(
      "conflict: a.txt is not what #1 left there: a command or another program has changed it since",
    );
  });

  test("a dry run shows each path once, by the net effect", async () => {
    await write("b.txt", "1\n");
    await write("b.txt", "2\n");
    await lines("coder_move", { files: [{ from: "b.txt", to: "c.txt" }] });
    await write("there.txt", "1\n");
    await write("there.txt", "2\n");
    const shown = await lines("coder_undo", { steps: 5, dry_run: true });
    expect(shown.filter((line) => line.startsWith("  "))).toEqual([
      "  restored: there.txt",
      "  removed: c.txt",
    ]);
    expect(shown.slice(-2)).toEqual(["Would be undone.", "[dry run: nothing was changed]"]);
    await lines("coder_undo", { steps: 5 });
    expect(readFileSync(join(connected.base, "there.txt"), "utf8")).toBe("0\n");
    expect(existsSync(join(connected.base, "c.txt"))).toBe(false);
    expect(existsSync(join(connected.base, "b.txt"))).toBe(false);
  });

  test("an undo of what is undone says so, and by which checkpoint", async () => {
    const list = await lines("coder_checkpoints", { limit: 1 });
    const by = /^#(\d+)/.exec(list[0]!)?.[1];
    expect((await lines("coder_undo", { seq: 3 })).at(-1)).toBe(
      `Nothing was undone: undone already by #${by}. To redo, undo #${by}.`,
    );
  });

  test("a conflict is an error unless force undoes over it, and a folder names who has filled it since", async () => {
    const create = async (path: string) =>
      Number(/#(\d+)$/.exec((await lines("coder_create_file", { path, content: "1\n" })).at(-1)!)![1]);
    const first = await create("filled/one.txt");
    const second = await create("filled/two.txt");
    for (const dry_run of [true, false]) {
      const refused = await connected.call("coder_undo", { seq: first, dry_run });
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toStartWith(
        `conflict: filled is not what #${first} left there: #${second} has changed it since; filled/two.txt is in it\nNothing `,
      );
    }
    const forced = await connected.call("coder_undo", { seq: first, force: true });
    expect(forced.isError).toBeUndefined();
  });
});

describe("where no state folder can be made", () => {
  let connected: McpFixture;
  let temporary: string;

  beforeAll(async () => {
    temporary = mkdtempSync(join(tmpdir(), "coder-tmp-"));
    const env = { XDG_STATE_HOME: "", HOME: "/dev/null", TMPDIR: temporary };
    connected = await connectStdio("executable", { tree, env });
  });
  afterAll(async () => {
    await connected[Symbol.asyncDispose]();
    rmSync(temporary, { recursive: true });
  });

  test("the instructions promise no undo", () => {
    const instructions = connected.client.getInstructions();
    expect(instructions).toContain("Changes are not recorded here, so nothing can be undone.");
    expect(instructions).not.toContain("coder_undo");
  });

  test("info and undo say that there is no journal, and why", async () => {
    const info = textOf(await connected.call("coder_info", {}));
    expect(info).toMatch(/^journal: off \(the state folder .*\)$/m);
    expect(info).not.toContain("/dev/null");
    const undone = await connected.call("coder_undo", {});
    expect(undone.isError).toBe(true);
    expect(textOf(undone)).toMatch(
      /No journal is kept here, because the state folder of this user .* `journal\.dir`/,
    );
  });

  test("transactions, plans and patches keep their records in a private temporary folder", async () => {
    const changes = [{ op: "create", path: "new.txt", content: "n\n" }];
    const made = await connected.call("coder_transact", { changes });
    expect([made.isError, textOf(made)]).toEqual([undefined, expect.stringContaining("new.txt: created")]);
    const patch = "*** Begin Patch\n*** Add File: p.txt\n+x\n*** End Patch\n";
    const planned = textOf(await connected.call("coder_apply_patch", { patch, dry_run: true }));
    const plan = /plan (\w{32})/.exec(planned)?.[1];
    expect((await connected.call("coder_commit", { plan })).isError).toBeUndefined();
    expect(readFileSync(join(connected.base, "p.txt"), "utf8")).toBe("x\n");
    const [folder, ...others] = readdirSync(temporary);
    expect(others).toEqual([]);
    expect(statSync(join(temporary, folder!)).mode & 0o777).toBe(0o700);
  });

  test("the log says it once", () => {
    const said = (message: string) => connected.stderr().split(JSON.stringify(message)).length - 1;
    expect(said("no state is kept")).toBe(1);
    expect(said("records of transactions do not outlive a restart of the machine")).toBe(1);
  });
});
