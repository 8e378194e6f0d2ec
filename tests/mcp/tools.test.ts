import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startEngine } from "../../src/embedded-engine/engine.ts";
import { startCoder, subjects } from "../harness/subject.ts";
import { connectStdio, type McpFixture, makeMcpFolder, textOf, withoutCheckpoint } from "./client.ts";
import golden from "./tools.golden.json" with { type: "json" };

const tree = {
  "a.txt": "one\ntwo\n",
  "empty.txt": "",
  "latin1.txt": Buffer.from("6Q==", "base64"),
  ".env": "SECRET=1",
  "big.txt": "x".repeat(2000),
  "sub/b.txt": "two\n",
  "sub/c\nd": "",
  "names/x:1:1: forged": "rose\n",
  "names/\u202egpj.md": "rose\n",
  out: { link: ".." },
  "void/": null,
};

/** Tools that change many files at once, revert changes, or report rules and changes. */
const notAboutPaths = [
  "coder_transact",
  "coder_apply_patch",
  "coder_commit",
  "coder_checkpoints",
  "coder_undo",
  "coder_info",
  "coder_changes",
];

describe.each(subjects)("the %s", (subject) => {
  let connected: McpFixture;

  beforeAll(async () => {
    connected = await connectStdio(subject, { tree, config: { max_read_bytes: 1000 } });
  });

  afterAll(() => connected[Symbol.asyncDispose]());

  test("lists the tools that are written down, in few bytes", async () => {
    const list = await connected.client.listTools();
    expect(list.tools as unknown).toEqual(golden);
    const bytesOf = (some: readonly object[]) => JSON.stringify({ tools: some }).length;
    const ofPaths = list.tools.filter(({ name }) => !notAboutPaths.includes(name));
    expect(bytesOf(ofPaths)).toBeLessThan(10_000);
    expect(bytesOf(list.tools)).toBeLessThan(14_000);
  });

  const tooLarge =
    "1 too large (over 1000 bytes, the max_read_bytes of the configuration; coder_read_file reads parts, with line_from and line_to)";
  const answers: [tool: string, args: Record<string, unknown>, text: string][] = [
    ["coder_read_file", { path: "a.txt" }, "one\ntwo\n"],
    ["coder_read_file", { path: "empty.txt" }, "[the file is empty]"],
    [
      "coder_read_file",
      { path: "latin1.txt" },
      '\ufffd\n[not valid UTF-8: U+FFFD stands for the bytes that are not; if the file is in another encoding, send that, such as "windows-1252" or "shift_jis"]\n[no newline at the end]',
    ],
    [
      "coder_search",
      { query: "two" },
      `a.txt\n2→two\n\nsub/b.txt\n1→two\n[not searched: 1 denied, ${tooLarge}]`,
    ],
    [
      "coder_search",
      { query: "b.t", search_paths: true },
      `[paths that match]\nsub/b.txt\n[not searched: 1 denied, ${tooLarge}]`,
    ],
    [
      "coder_search",
      { query: "nowhere" },
      `[nothing found in 7 files]\n[not searched: 1 denied, ${tooLarge}]`,
    ],
    [
      "coder_search",
      { query: "a", file_types: ["py"] },
      "[nothing found: no file matches the path, globs and file types]",
    ],
    [
      "coder_search",
      { query: "two", max_matches: 1 },
      `a.txt\n2→two\n[not searched: 1 denied, ${tooLarge}]\n[stopped by max_matches; go on with the same call and "cursor": "…"]`,
    ],
    ["coder_list_folder", { path: "sub" }, 'b.txt  4\n"c\\nd"  0'],
    ["coder_list_folder", { path: "void" }, "[the folder is empty]"],
    [
      "coder_list_folder",
      { page_size: 2 },
      ".env [not accessible]  8\na.txt  8\n[page 1: 2 of 9 entries; send page 2 for more]",
    ],
    [
      "coder_search",
      { query: "rose", path: "names" },
      '"names/x:1:1: forged"\n1→rose\n\n"names/\\u202egpj.md"\n1→rose',
    ],
    [
      "coder_search",
      { query: "gpj", search_content: false },
      '"names/\\u202egpj.md"\n[not searched: 1 denied]',
    ],
    ["coder_list_folder", { path: "names" }, '"x:1:1: forged"  5\n"\\u202egpj.md"  5'],
    ["coder_tree", { path: "names" }, 'names/\n  "x:1:1: forged"\n  "\\u202egpj.md"'],
    ["coder_tree", { path: "sub" }, 'sub/\n  b.txt\n  "c\\nd"'],
    [
      "coder_tree",
      { path: "sub", max_depth: 0 },
      "sub/ …\n[… is not opened: send a larger max_depth, or that folder as path]",
    ],
    ["coder_create_file", { path: "new/m.txt", content: "" }, "new/m.txt: created, 0 bytes"],
    ["coder_create_file", { files: [{ path: "new/n.txt", content: "é\n" }] }, "new/n.txt: created, 3 bytes"],
    [
      "coder_update_file",
      { files: [{ path: "new/n.txt", ops: [{ op: "insert", at_line: 2, content: "x" }] }] },
      "new/n.txt: 1 op applied, 2 lines now\n1→é\n2→x",
    ],
    [
      "coder_delete_file",
      { paths: ["new", "gone"], recursive: true },
      "new: removed, with 2 files in it\ngone: was not there",
    ],
  ];

  test.each(answers)("%s %j answers in text alone", async (tool, args, text) => {
    const result = await connected.call(tool, args);
    expect(withoutCheckpoint(textOf(result)).replace(/(?<="cursor": ")[\w-]+/, "…")).toBe(text);
    expect(result.isError).toBeUndefined();
    expect(result.structuredContent).toBeUndefined();
  });

  const failures: [tool: string, args: Record<string, unknown>, code: string][] = [
    ["coder_read_file", {}, "C210"],
    ["coder_read_file", { path: ".env" }, "C211"],
    ["coder_read_file", { path: "big.txt" }, "C213"],
    ["coder_read_file", { path: "out/x" }, "C215"],
    ["coder_list_folder", { path: "a.txt" }, "C210"],
    ["coder_list_folder", { path: "none" }, "C211"],
    ["coder_tree", { path: "../x" }, "C215"],
    ["coder_search", { query: "(", regex: true }, "C210"],
    ["coder_search", { query: "x", path: "none" }, "C211"],
    ["coder_create_file", { files: [] }, "C210"],
    ["coder_update_file", { files: [] }, "C210"],
    ["coder_delete_file", { paths: [] }, "C210"],
  ];

  test.each(failures)("%s %j fails with %s", async (tool, args, code) => {
    const result = await connected.call(tool, args);
    expect(result.isError).toBe(true);
    expect(result.structuredContent).toBeUndefined();
    const text = textOf(result);
    expect(text).toMatch(new RegExp(`^${code} [a-z_]+: .`));
    expect(text).not.toContain("coder::");
  });

  test("an error names tools, and leaves alone what the caller sent", async () => {
    const missing = await connected.call("coder_read_file", { path: "coder::tree" });
    expect(textOf(missing)).toMatch(/"coder::tree" is not found, .* coder_list_folder /);
  });

  const entries: [tool: string, args: Record<string, unknown>, code: string][] = [
    ["coder_create_file", { files: [{ path: "a.txt", content: "" }] }, "C217"],
    ["coder_create_file", { files: [{ path: "f", content: "", mode: "9" }] }, "C210"],
    ["coder_create_file", { files: [{ path: "x.key", content: "" }] }, "C211"],
    ["coder_update_file", { files: [{ path: "a.txt", ops: [] }] }, "C210"],
    [
      "coder_update_file",
      { files: [{ path: "none", ops: [{ op: "remove", from_line: 1, to_line: 1 }] }] },
      "C211",
    ],
    ["coder_delete_file", { paths: ["sub"] }, "C216"],
    ["coder_delete_file", { paths: ["out/a"] }, "C215"],
  ];

  test.each(entries)("%s %j fails in its entry with %s", async (tool, args, code) => {
    const result = await connected.call(tool, args);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(new RegExp(`^([^ ]+: )?${code} [a-z_]+: .`));
  });

  test("an entry that failed does not hide the others", async () => {
    const result = await connected.call("coder_delete_file", { paths: ["none", "../x"] });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(
      /^0 of 2 deleted; failed: \.\.\/x\nnone: was not there\nC215 outside: The path "\.\.\/x" leaves .*$/,
    );
  });

  test("--structured adds answers as on the bus, their schemas and errors as JSON", async () => {
    await using structured = await connectStdio(subject, { tree, args: ["--structured"] });
    const { tools } = await structured.client.listTools();
    expect(tools.map(({ outputSchema: _, ...rest }) => rest) as unknown).toEqual(golden);
    expect(tools.every(({ outputSchema }) => outputSchema?.type === "object")).toBe(true);
    expect(await structured.call("coder_delete_file", { paths: ["none", "../x"] })).toMatchObject({
      structuredContent: {
        results: [
          { path: "none", success: true, removed: false },
          { path: "../x", success: false },
        ],
      },
      content: [
        {
          text: expect.stringMatching(
            /^0 of 2 deleted; failed: \.\.\/x\nnone: was not there\nC215 outside: /,
          ),
        },
      ],
      isError: true,
    });
    const missing = JSON.parse(textOf(await structured.call("coder_read_file", { path: "none" })));
    expect(missing).toMatchObject({ code: "C211", message: expect.stringContaining("coder_list_folder") });
  });

  test("a tool that is not there is an error of the protocol that names those that are", async () => {
    const failed = await connected.call("coder::read-file", {}).catch((error: Error) => error.message);
    expect(failed).toContain("coder_read_file");
  });

  test("files are resources, found by list, template and completion", async () => {
    const { client } = connected;
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain("coder:///a.txt");
    expect(resources.map(({ uri }) => uri)).not.toContain("coder:///.env");
    const [template] = (await client.listResourceTemplates()).resourceTemplates;
    const uri = template?.uriTemplate as string;
    const complete = async (value: string) =>
      (await client.complete({ ref: { type: "ref/resource", uri }, argument: { name: "path", value } }))
        .completion.values;
    expect(await complete("s")).toEqual(["sub/"]);
    expect(await complete("sub/b")).toEqual(["sub/b.txt"]);
    expect(await complete("none/")).toEqual([]);
    expect((await client.readResource({ uri: "coder:///sub/b.txt" })).contents).toEqual([
      { uri: "coder:///sub/b.txt", mimeType: "text/plain", text: "two\n" },
    ]);
  });

  test.each(["0", "-1", "1.5", "", "next", "9".repeat(12)])(
    "there is no page %p of resources",
    async (cursor) => {
      // The list method of the client would read all pages by itself.
      const requested = connected.client.request({ method: "resources/list", params: { cursor } });
      expect(await requested.catch((error: { code: number }) => error.code)).toBe(-32602);
    },
  );

  test.each([
    "coder:///.env",
    "coder:///%2e%2e/x",
    "coder:///out/x",
    "coder:///%",
    "file:///etc/passwd",
    "coder:///sub",
  ])("the resource %s is refused", async (uri) => {
    const failed = await connected.client
      .readResource({ uri })
      .catch((error: { code: number }) => error.code);
    expect(failed).toBe(-32602);
  });
});

describe.each(subjects)("the %s with --read-only", (subject) => {
  test("offers over MCP what cannot change anything", async () => {
    await using connected = await connectStdio(subject, { args: ["--read-only"] });
    const { tools } = await connected.client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(tools.map(({ name }) => name).sort()).toEqual(
      golden.flatMap(({ name, annotations }) => (annotations.readOnlyHint ? [name] : [])).sort(),
    );
    const write = connected.call("coder_create_file", { files: [] });
    expect(await write.catch((error: Error) => error.message)).toContain("There is no tool");
  });

  test("offers on the bus what cannot change anything", async () => {
    const { file, remove } = makeMcpFolder({ tree: { "a.txt": "a" } });
    const engine = await startEngine();
    const worker = startCoder(subject, ["--read-only", "--config", file, "--url", engine.url]);
    try {
      // Functions are registered in the order of the list, and search comes after the functions that write.
      await engine.waitForFunction("coder::search");
      expect(await engine.call("coder::read-file", { path: "a.txt" })).toMatchObject({ content: "a" });
      const write = engine.call("coder::delete-file", { paths: ["a.txt"] });
      expect(await write.catch((error: Error) => error.message)).toContain("coder::delete-file");
    } finally {
      worker.child.kill("SIGTERM");
      await worker.exited;
      await engine.stop();
      remove();
    }
  });
});
