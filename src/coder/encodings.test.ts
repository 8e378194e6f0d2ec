import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log/log.ts";
import { createInvoke } from "../calls/invoke.ts";
import { type Config, defaultConfig } from "./config.ts";
import { functions } from "./functions.ts";
import { openCoder } from "./services.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const journal = { dir: mkdtempSync(join(tmpdir(), "state-")), max_bytes: 2 ** 20, max_records: 9 };
const log = createLog({ level: "error", form: "text", write: () => undefined });
const open = (config: Partial<Config>) =>
  openCoder({ ...defaultConfig(), base_path: base, fsync: false, journal, ...config }, { environment: {} });
const agent = await open({
  profile: "agent",
  encodings: [
    { glob: "**/*.rc", encoding: "windows-1251" },
    { glob: "wide/**", encoding: "utf-16" },
  ],
});
const contract = await open({ encodings: [{ glob: "**", encoding: "latin1" }] });
afterAll(async () => {
  await agent.close();
  await contract.close();
  rmSync(base, { recursive: true });
  rmSync(journal.dir, { recursive: true });
});

/** Returns the answer of a call, or its error. */
async function call(id: string, payload: object, runtime = agent) {
  const definition = functions.find((one) => one.id === `coder::${id}`)!;
  const outcome = await createInvoke(runtime, log)(definition, payload);
  return ("error" in outcome ? outcome : outcome.answer) as Record<string, never>;
}
const at = (name: string) => join(base, name);
const write = (name: string, hex: string | Buffer) =>
  writeFileSync(at(name), typeof hex === "string" ? Buffer.from(hex, "latin1") : hex);
const bytes = (name: string) => readFileSync(at(name));

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
const edit = (path: string, op: object, more: object = {}) =>
  call("update-file", { files: [{ path, ops: [op], ...more }] });
const replaceText = (old_str: string, new_str: string) => ({ op: "str_replace", old_str, new_str });

describe("UTF-16 with a byte order mark", () => {
  test("is read as text, with its encoding, and counted in lines", async () => {
    write("u.txt", utf16("one\r\nдва\r\n"));
    const read = await call("read-file", { path: "u.txt", numbered: true });
    expect(read).toMatchObject({
      content: "\ufeff1→one\r\n2→два\r\n",
      encoding: "UTF-16LE",
      is_utf8: false,
      total_lines: 2,
      text_notes: ["UTF-16LE, BOM", "CRLF"],
    });
    expect(await call("read-file", { path: "u.txt", stat: true })).toMatchObject({
      encoding: "UTF-16LE",
      total_lines: 2,
      text_notes: ["UTF-16LE, BOM", "CRLF"],
    });
  });

  test("is edited by lines, text and regex, and stays so", async () => {
    write("u.txt", utf16("one\r\nдва\r\n"));
    expect(await edit("u.txt", { op: "insert", at_line: 2, content: "née" })).toMatchObject({
      results: [{ success: true, new_line_count: 3, echoes: [{ lines: ["one", "née", "два"] }] }],
    });
    await edit("u.txt", replaceText("one\nnée", "1\n2"));
    await edit("u.txt", { op: "replace", pattern: "(?m)^(.+)а$", replacement: "<$1>" });
    expect(bytes("u.txt")).toEqual(utf16("1\r\n2\r\n<дв>\r\n"));
  });

  test("is found by search, also over lines", async () => {
    write("u.txt", utf16("one\r\nдва\r\n"));
    const query = { path: "u.txt", query: "^два", regex: true };
    expect(await call("search", query)).toMatchObject({
      content_matches: [{ path: "u.txt", line: 2, column: 1, text: "два" }],
      skipped: { binary: 0 },
    });
    expect(await call("search", { path: "u.txt", query: "one\nд", multiline: true })).toMatchObject({
      content_matches: [{ line: 1, end_line: 2 }],
    });
  });

  test("is created with a mark", async () => {
    await call("create-file", { path: "new.txt", content: "é\n", encoding: "utf-16be" });
    expect(bytes("new.txt").toString("hex")).toBe("feff00e9000a");
  });

  test("stays so when it is overwritten, unless the request says another", async () => {
    write("u.txt", utf16("one\n").swap16());
    const file = { path: "u.txt", content: "два\n", overwrite: true };
    expect(await call("create-file", { files: [file] })).toMatchObject({
      results: [{ success: true, bytes_written: 10, encoding: "UTF-16BE" }],
    });
    expect(bytes("u.txt")).toEqual(utf16("два\n").swap16());
    const change = { ...file, op: "create", content: "три\n" };
    expect(await call("transact", { changes: [change] })).toMatchObject({
      results: [{ bytes_written: 10, encoding: "UTF-16BE" }],
    });
    expect(bytes("u.txt")).toEqual(utf16("три\n").swap16());
    const { results } = await call("create-file", { files: [{ ...file, encoding: "utf-8" }] });
    expect(results).toMatchObject([{ bytes_written: 7 }]);
    expect([bytes("u.txt").toString(), "encoding" in results![0]!]).toEqual(["два\n", false]);
    write("u.txt", utf16("one\n"));
    await call("create-file", { files: [file] }, contract);
    expect(bytes("u.txt").toString()).toBe("два\n");
  });

  test("with a NUL in its text is binary", async () => {
    write("u.txt", utf16("a\0b\n"));
    expect(await call("read-file", { path: "u.txt" })).toMatchObject({ binary: "UTF-16LE text, BOM" });
    expect(await call("search", { path: "u.txt", query: "b" })).toMatchObject({ skipped: { binary: 1 } });
  });
});

describe("an unknown encoding of 8 bits", () => {
  test("is named, and takes nothing but ASCII", async () => {
    write("l.txt", "caf\xe9\nx\n");
    expect(await call("read-file", { path: "l.txt" })).toMatchObject({ content: "caf\ufffd\nx\n" });
    expect(await edit("l.txt", replaceText("x", "y"))).toMatchObject({ results: [{ success: true }] });
    expect(bytes("l.txt").toString("latin1")).toBe("caf\xe9\ny\n");
    for (const text of ["é", "\ufffd"]) {
      const { results } = await edit("l.txt", replaceText("y", text));
      expect(results).toMatchObject([{ success: false, error: expect.stringContaining("windows-1252") }]);
    }
    expect(await edit("l.txt", { op: "replace", pattern: "y", replacement: "z" })).toMatchObject({
      results: [{ success: false, error: expect.stringContaining("windows-1252") }],
    });
    expect(bytes("l.txt").toString("latin1")).toBe("caf\xe9\ny\n");
  });

  test("is not lost to a text that was read from it", async () => {
    write("l.txt", "caf\xe9\nx\n");
    const content = "caf\ufffd\ny\n";
    const file = { path: "l.txt", content, overwrite: true };
    const created = await call("create-file", { files: [file] });
    expect(created).toMatchObject({
      results: [{ success: false, error: expect.stringContaining("U+FFFD, which stands for bytes") }],
    });
    const change = { op: "create", ...file };
    expect(await call("transact", { changes: [change] })).toMatchObject({
      error: expect.stringContaining("U+FFFD, which stands for bytes"),
    });
    expect(bytes("l.txt").toString("latin1")).toBe("caf\xe9\nx\n");
    for (const other of [{ ...file, content: "café\n" }, file])
      expect(await call("create-file", { files: [other] })).toMatchObject({ results: [{ success: true }] });
    expect(bytes("l.txt").toString()).toBe(content);
  });

  test("that a request names is read, searched and edited", async () => {
    write("l.txt", "caf\xe9\nx\n");
    const encoding = "latin1";
    expect(await call("read-file", { path: "l.txt", encoding })).toMatchObject({
      content: "café\nx\n",
      encoding: "windows-1252",
      text_notes: ["windows-1252"],
    });
    expect(await call("search", { path: "l.txt", query: "café", encoding })).toMatchObject({
      content_matches: [{ line: 1, text: "café" }],
    });
    expect(await edit("l.txt", replaceText("x", "naïve –"), { encoding })).toMatchObject({
      results: [{ success: true }],
    });
    expect(bytes("l.txt").toString("latin1")).toBe("caf\xe9\nna\xefve \x96\n");
    expect(await edit("l.txt", replaceText("na", "Ω"), { encoding })).toMatchObject({
      results: [{ success: false, error: expect.stringMatching(/C210.*Ω.*U\+03A9.*windows-1252/) }],
    });
    const changes = [
      { op: "update", path: "l.txt", ops: [replaceText("café", "thé")], encoding },
      { op: "create", path: "k.txt", content: "ключ\n", encoding: "koi8-r" },
    ];
    expect(await call("transact", { changes })).toMatchObject({ committed: true });
    expect(bytes("l.txt").toString("latin1")).toBe("th\xe9\nna\xefve \x96\n");
    expect(bytes("k.txt").toString("hex")).toBe("cbccc0de0a");
  });

  test("that the configuration names is read, searched and edited", async () => {
    write("app.rc", "\xcf\xf0\xe8\xe2\xe5\xf2\r\n");
    expect(await call("read-file", { path: "./app.rc" })).toMatchObject({ content: "Привет\r\n" });
    expect(await call("search", { query: "Привет" })).toMatchObject({
      content_matches: [{ path: "app.rc", line: 1 }],
      index: "scan",
    });
    await edit("app.rc", replaceText("Привет", "Да"));
    expect(bytes("app.rc").toString("latin1")).toBe("\xc4\xe0\r\n");
    mkdirSync(at("wide"), { recursive: true });
    write("wide/a", Buffer.from("слово\n", "utf16le"));
    expect(await call("search", { query: "слово" })).toMatchObject({
      content_matches: [{ path: "wide/a", line: 1 }],
    });
    await call("create-file", { path: "new.rc", content: "Да\n" });
    expect(bytes("new.rc").toString("latin1")).toBe("\xc4\xe0\n");
  });

  test("that nobody knows is refused", async () => {
    const encoding = "klingon";
    const error = expect.stringContaining("klingon");
    expect(await call("read-file", { path: "l.txt", encoding })).toMatchObject({ error });
    expect(await call("search", { query: "x", encoding })).toMatchObject({ error });
    expect(await edit("l.txt", replaceText("x", "y"), { encoding })).toMatchObject({ results: [{ error }] });
    expect(await call("create-file", { path: "n", content: "", encoding })).toMatchObject({
      results: [{ error }],
    });
    await expect(open({ encodings: [{ glob: "*", encoding }] })).rejects.toThrow("klingon");
  });
});

describe("a match inside a character", () => {
  // "テスト g", whose second and last characters end in the bytes of "X" and "g".
  const katakana = "\x83e\x83X\x83g g\n";

  test("is refused in a file of unknown encoding, which stays as it is", async () => {
    for (const [old_str, more] of [
      ["X", {}],
      ["g", { replace_all: true }],
      ["X", { replace_all: true }],
    ] as const) {
      write("sjis.txt", katakana);
      const { results } = await edit("sjis.txt", { ...replaceText(old_str, "y"), ...more });
      expect(results).toMatchObject([{ success: false, error: expect.stringContaining("shift_jis") }]);
      expect(bytes("sjis.txt").toString("latin1")).toBe(katakana);
    }
    const replaced = await call("replace", { path: "sjis.txt", query: "X", replacement: "y" });
    expect(replaced).toMatchObject({
      error: expect.stringMatching(/C210.*a part of a character.*shift_jis/),
    });
    expect(bytes("sjis.txt").toString("latin1")).toBe(katakana);
  });

  test("is one of several ops that fail", async () => {
    write("sjis.txt", katakana);
    const ops = [replaceText("absent", "y"), replaceText("X", "y")];
    const { results } = await call("update-file", { files: [{ path: "sjis.txt", ops }] });
    expect(results).toMatchObject([{ success: false, error: expect.stringMatching(/absent|shift_jis/) }]);
    expect(bytes("sjis.txt").toString("latin1")).toBe(katakana);
  });

  test("does not exist where the encoding is known", async () => {
    write("sjis.txt", katakana);
    expect(await edit("sjis.txt", replaceText("g", "h"), { encoding: "shift_jis" })).toMatchObject({
      results: [{ success: true }],
    });
    expect(bytes("sjis.txt").toString("latin1")).toBe("\x83e\x83X\x83g h\n");
    await edit("sjis.txt", { ...replaceText("X", "y"), expect_matches: 1 }, { encoding: "utf-8" });
    expect(bytes("sjis.txt").toString("latin1")).toBe("\x83e\x83y\x83g h\n");
  });

  test("is not feared behind ASCII, or in a file that no such encoding can hold", async () => {
    for (const [content, old_str] of [
      [katakana, " g"],
      ["caf\xe9 cr\xe8me\n", " cr"],
      ["\xe9lan caf\xe9\n", "lan"],
    ] as const) {
      write("l.txt", content);
      expect(await edit("l.txt", replaceText(old_str, "-"))).toMatchObject({ results: [{ success: true }] });
      expect(bytes("l.txt").toString("latin1")).toBe(content.replace(old_str, "-"));
    }
  });

  test("is pointed out by a search that shows it", async () => {
    write("sjis.txt", katakana);
    const hints = [expect.stringMatching(/U\+FFFD.*half of a character.*"shift_jis"/)];
    expect(await call("search", { path: "sjis.txt", query: "X" })).toMatchObject({
      content_matches: [{ line: 1 }],
      hints,
    });
    const decoded = await call("search", { path: "sjis.txt", query: "g", encoding: "shift_jis" });
    expect(decoded).toMatchObject({ content_matches: [{ text: "テスト g", column: 11 }] });
    expect(decoded).not.toHaveProperty("hints");
    expect(await call("search", { path: "sjis.txt", query: "X" }, contract)).not.toHaveProperty("hints");
  });
});

test("an invalid byte does not hide a match inside a character", async () => {
  const content = "// \x95\\\n// \x83\x5c \x94\x5c\n// \xff\nint a\n";
  write("sjis.txt", content);
  for (const [id, request] of [
    [
      "update-file",
      { files: [{ path: "sjis.txt", ops: [{ ...replaceText("\\", "/"), replace_all: true }] }] },
    ],
    ["replace", { path: "sjis.txt", query: "\\", replacement: "/" }],
  ] as const) {
    expect(JSON.stringify(await call(id, request))).toContain("shift_jis");
    expect(bytes("sjis.txt").toString("latin1")).toBe(content);
  }
});

test("the escape sequences of ISO-2022-JP are pointed out, and its characters are not taken for ASCII", async () => {
  const content = "\x1b$B$3$l$O\x1b(B K\n";
  write("jis.txt", content);
  const read = createInvoke(agent, log);
  const definition = functions.find(({ id }) => id === "coder::read-file")!;
  expect(await read(definition, { path: "jis.txt" })).toMatchObject({ answer: { content } });
  const op = { ...replaceText("3", "4"), replace_all: true };
  expect(await edit("jis.txt", op)).toMatchObject({
    results: [{ success: false, error: expect.stringContaining("iso-2022-jp") }],
  });
  expect(bytes("jis.txt").toString("latin1")).toBe(content);
  expect(await edit("jis.txt", replaceText("K", "J"))).toMatchObject({ results: [{ success: true }] });
  expect(bytes("jis.txt").toString("latin1")).toBe(content.replace("K", "J"));
});

describe("UTF-8 with a few invalid bytes", () => {
  const content = Buffer.concat([Buffer.from("é "), Buffer.of(0xff), Buffer.from(" é x 中文\n")]);

  test("is edited like UTF-8 if the call says so, and the refusals say so", async () => {
    write("u8.txt", content);
    const refused = { results: [{ success: false, error: expect.stringContaining("utf-8") }] };
    expect(await edit("u8.txt", replaceText("x", "表"))).toMatchObject(refused);
    const encoding = "utf-8";
    expect(await edit("u8.txt", replaceText("x", "表"), { encoding })).toMatchObject({
      results: [{ success: true, text_notes: ["U+FFFD stands for bytes that are not UTF-8"] }],
    });
    const edited = Buffer.concat([Buffer.from("é "), Buffer.of(0xff), Buffer.from(" é 表 中文\n")]);
    expect(bytes("u8.txt")).toEqual(edited);
    for (const op of [
      { op: "update_lines", from_line: 1, to_line: 1, content: "é \ufffd" },
      { op: "replace", pattern: "é", replacement: "e" },
    ])
      expect(await edit("u8.txt", op, { encoding })).toMatchObject({ results: [{ success: false }] });
    expect(bytes("u8.txt")).toEqual(edited);
  });

  test("has no similar text where U+FFFD was sent for its bytes", async () => {
    write("u8.txt", content);
    const { results } = await edit("u8.txt", replaceText("é \ufffd é", "e"));
    expect(JSON.stringify(results)).not.toContain("line endings");
    expect(JSON.stringify(results)).toContain("U+FFFD stands for bytes");
  });
});

test("an encoding that is not used is named, in reads, edits and patches", async () => {
  write("u8.txt", Buffer.from("模式\n"));
  const encoding = "gbk";
  const text_notes = ["GBK is not used: the file is valid UTF-8"];
  expect(await call("read-file", { path: "u8.txt", encoding })).toMatchObject({ text_notes });
  const inserted = { op: "insert", at_line: 1, content: "x" };
  expect(await edit("u8.txt", inserted, { encoding })).toMatchObject({ results: [{ text_notes }] });
  const patch = "--- a/u8.txt\n+++ b/u8.txt\n@@ -1 +1 @@\n-x\n+y\n";
  expect(JSON.stringify(await call("apply-patch", { patch, encoding }))).toContain(text_notes[0]!);
  write("u8.txt", "a\nb\n");
  expect(await call("read-file", { path: "u8.txt", encoding: "utf-16le" })).toMatchObject({
    text_notes: ["UTF-16LE is not used: no line end has a NUL"],
  });
});

test("a file that is text after an edit is shown", async () => {
  write("nul.txt", "ab\nc\0d\nef\n");
  expect(await edit("nul.txt", replaceText("c\0d", "cd"))).toMatchObject({
    results: [{ success: true, echoes: [{ lines: ["ab", "cd", "ef"] }] }],
  });
  write("nul.txt", "ab\nc\0d\nef\n");
  expect(await edit("nul.txt", replaceText("ab", "xy"))).toMatchObject({
    results: [{ success: true, text_notes: ["binary, so its lines are not shown"] }],
  });
});

test("UTF-16 without a mark that becomes UTF-8 is named", async () => {
  write("wide.txt", Buffer.from("one\ntwo\n", "utf16le"));
  const file = { path: "wide.txt", content: "new\n", overwrite: true };
  expect(await call("create-file", { files: [file] })).toMatchObject({
    results: [{ text_notes: [expect.stringContaining('"utf-16le" would keep it')] }],
  });
});

describe("UTF-16 without a byte order mark", () => {
  const content = () => Buffer.from("one\r\ntwo\r\n", "utf16le");

  test("is named by a read, and can then be read", async () => {
    write("wide.txt", content());
    expect(await call("read-file", { path: "wide.txt" })).toMatchObject({ binary: "UTF-16LE text, no BOM" });
    expect(await call("read-file", { path: "wide.txt", encoding: "utf-16le" })).toMatchObject({
      content: "one\r\ntwo\r\n",
    });
  });

  test("is not edited as if it were UTF-8, unless that is asked for", async () => {
    const error = expect.stringMatching(/C210.*UTF-16LE without a byte order mark.*utf-16le.*utf-8/);
    for (const op of [
      { op: "insert", at_line: 2, content: "x" },
      { op: "update_lines", from_line: 1, to_line: 1, content: "x" },
      { op: "remove", from_line: 1, to_line: 1 },
      { op: "replace", pattern: "o", replacement: "x" },
      { ...replaceText("o", "xx"), replace_all: true },
    ]) {
      write("wide.txt", content());
      expect(await edit("wide.txt", op)).toMatchObject({ results: [{ success: false, error }] });
      expect(bytes("wide.txt")).toEqual(content());
    }
    const patch = "--- a/wide.txt\n+++ b/wide.txt\n@@ -1,0 +2 @@\n+x\n";
    expect(await call("apply-patch", { patch })).toMatchObject({ error });
    expect(bytes("wide.txt")).toEqual(content());
    const inserted = { op: "insert", at_line: 2, content: "x" };
    expect(await edit("wide.txt", inserted, { encoding: "utf-16le" })).toMatchObject({
      results: [{ success: true }],
    });
    expect(bytes("wide.txt")).toEqual(Buffer.from("one\r\nx\r\ntwo\r\n", "utf16le"));
    write("wide.txt", content());
    await edit("wide.txt", { ...replaceText("n", "m"), replace_all: true }, { encoding: "utf-8" });
    expect(bytes("wide.txt")).toEqual(Buffer.from("ome\r\ntwo\r\n", "utf16le"));
  });

  test("is not what a file without a NUL is", async () => {
    const encoding = "utf-16le";
    for (const text of ["caf\xe9 au lait\nx\n", "one\ntwo\n", "abcd"]) {
      write("l.txt", text);
      const shown = text.replace("\xe9", "\ufffd");
      expect(await call("read-file", { path: "l.txt", encoding })).toMatchObject({ content: shown });
      expect(await call("search", { path: "l.txt", query: text.slice(0, 2), encoding })).toMatchObject({
        content_matches: [{ line: 1, column: 1 }],
      });
      await edit("l.txt", { op: "insert", at_line: 1, content: "new" }, { encoding });
      expect(bytes("l.txt").toString("latin1")).toBe(`new\n${text}`);
    }
    write("l.txt", Buffer.from("слово", "utf16le"));
    expect(await call("read-file", { path: "l.txt", encoding })).toMatchObject({ content: "слово" });
  });
});

describe("a file with another revision than expected is shown as its text", () => {
  const expected_revision = `sha256:${"0".repeat(64)}`;

  test("in the encoding of the call, of the mark, and of the configuration", async () => {
    write("l.txt", "one\ncaf\xe9\n");
    const op = replaceText("café", "thé");
    for (const [id, request] of [
      ["update-file", { files: [{ path: "l.txt", ops: [op], encoding: "latin1", expected_revision }] }],
      [
        "apply-patch",
        {
          patch: "--- a/l.txt\n+++ b/l.txt\n@@ -2 +2 @@\n-café\n+thé\n",
          encoding: "latin1",
          expected_revisions: { "l.txt": expected_revision },
        },
      ],
    ] as const) {
      expect(JSON.stringify(await call(id, request))).toMatch(/one\\+ncafé\\+n/);
    }
    write("u.txt", utf16("слово\n"));
    write("app.rc", "\xc4\xe0\n");
    for (const [path, text] of [
      ["u.txt", "слово"],
      ["app.rc", "Да"],
    ] as const) {
      const file = { path, ops: [replaceText(text, "x")], expected_revision };
      expect(JSON.stringify(await call("update-file", { files: [file] }))).toContain(text);
      const changes = [{ op: "update", ...file }];
      expect(JSON.stringify(await call("transact", { changes }))).toContain(text);
    }
  });
});

test("a new file that is not in UTF-8 has its encoding in the answer", async () => {
  const files = [
    { path: "n1", content: "é\n", encoding: "utf-16le" },
    { path: "n2", content: "é\n", encoding: "latin1" },
    { path: "n3.rc", content: "Да\n" },
    { path: "n4", content: "é\n" },
  ];
  const { results } = await call("create-file", { files });
  const encodings = (results as unknown as { readonly encoding?: string }[]).map(({ encoding }) => encoding);
  expect(encodings).toEqual(["UTF-16LE", "windows-1252", "windows-1251", undefined]);
  expect(bytes("n1")).toEqual(utf16("é\n"));
});

test("the mark of a file over the limit decides too, and UTF-16 is not read in parts", async () => {
  const small = await open({ profile: "agent", max_read_bytes: 1000 });
  write("wide.txt", utf16("line\n".repeat(1000)));
  write("marked.txt", Buffer.from(`\ufeff${"é\n".repeat(1000)}`));
  for (const part of [{ line_from: 1, line_to: 2 }, { line_from: 500, line_to: 501 }, { tail: 2 }]) {
    expect(await call("read-file", { path: "wide.txt", ...part }, small)).toMatchObject({
      error: expect.stringMatching(/C213.*no lines of such a file are read or searched in UTF-16LE/),
    });
    const marked = await call("read-file", { path: "marked.txt", ...part, encoding: "latin1" }, small);
    expect(String(marked["content"]).replace("\ufeff", "")).toBe("é\né\n");
  }
  expect(await call("search", { query: "line", path: "wide.txt" }, small)).toMatchObject({
    skipped: { too_large: 1, binary: 0 },
  });
  await small.close();
});

test("the contract profile reads and edits bytes", async () => {
  write("l.txt", "caf\xe9\n");
  expect(await call("read-file", { path: "l.txt" }, contract)).toMatchObject({ content: "caf\ufffd\n" });
  const files = [{ path: "l.txt", ops: [{ op: "insert", at_line: 1, content: "é" }] }];
  await call("update-file", { files }, contract);
  expect(bytes("l.txt").toString("latin1")).toBe("\xc3\xa9\ncaf\xe9\n");
});
