/** Facts about a file besides its lines: its encoding and line ends, and whether it is text at all. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connectStdio, type McpFixture, textOf, withoutCheckpoint } from "./client.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");
const zip = Buffer.concat([latin1("PK\x03\x04"), Buffer.alloc(60_000, 0x81)]);
const wav = Buffer.concat([latin1("RIFF\xff\0\0\0WAVEfmt "), Buffer.alloc(100, 0x80)]);
const tree = {
  "lf.txt": "one\ntwo\n",
  "crlf.txt": "one\r\ntwo\r\n",
  "mixed.txt": `${"x\n".repeat(97)}${"y\r\n".repeat(3)}`,
  "cr.txt": "one\rtwo\r",
  "open.txt": "one\ntwo",
  "mark.txt": "\ufeffone\r\ntwo",
  "latin1.txt": latin1("caf\xe9\n"),
  "utf16.txt": latin1("\xff\xfeo\0n\0e\0\n\0"),
  "utf32.txt": latin1("\xff\xfe\0\0o\0\0\0\n\0\0\0"),
  "a.zip": zip,
  "nul.dat": latin1("abc\0def"),
  "a.wav": wav,
  "folder/run.sh": { text: "run\n", mode: 0o755 },
  "private/": { mode: 0o700 },
  "b.wav": Buffer.concat([wav, Buffer.alloc(200_000, 0x80)]),
};

const form = (text: string) => text.replaceAll(/mode 0644, changed [^,\]]+/g, "…");

describe("a file as a model sees it", () => {
  let connected: McpFixture;
  const read = async (args: Record<string, unknown>) => {
    const result = await connected.call("coder_read_file", args);
    expect(result.isError).toBeUndefined();
    return form(textOf(result));
  };

  beforeAll(async () => {
    connected = await connectStdio("executable", { tree });
  });

  afterAll(() => connected[Symbol.asyncDispose]());

  test.each([
    [{ path: "lf.txt" }, "one\ntwo\n"],
    [{ path: "crlf.txt" }, "one\r\ntwo\r\n[CRLF]"],
    [{ path: "cr.txt" }, "one\ntwo\n[CR]"],
    [{ path: "open.txt" }, "one\ntwo\n[no newline at the end]"],
    [{ path: "mark.txt" }, "\ufeffone\r\ntwo\n[BOM]\n[CRLF]\n[no newline at the end]"],
    [
      { path: "open.txt", line_to: 1 },
      "one\n[no newline at the end]\n[lines 1 to 1 of 2; continue with line_from: 2]",
    ],
    [{ path: "crlf.txt", tail: 1 }, "two\r\n[CRLF]\n[lines 2 to 2 of 2]"],
    [
      { path: "latin1.txt" },
      'caf\ufffd\n[not valid UTF-8: U+FFFD stands for the bytes that are not; if the file is in another encoding, send that, such as "windows-1252" or "shift_jis"]',
    ],
    [{ path: "crlf.txt", stat: true, revision: false }, "[10 bytes, 2 lines, …, CRLF]"],
  ])("%j is %j", async (args, text) => {
    expect(await read(args)).toBe(text);
  });

  test("mixed line ends are counted", async () => {
    expect(await read({ path: "mixed.txt" })).toEndWith("\n[mixed line ends: 3 CRLF, 97 LF]");
  });

  test.each([
    ["a.zip", "ZIP archive, 60004 bytes"],
    ["utf32.txt", "UTF-32LE text, BOM, 12 bytes"],
  ])("%s is not shown as text", async (path, kind) => {
    const hint = `[binary: ${kind}; send encoding "base64" for its bytes]`;
    expect(await read({ path })).toBe(hint);
    expect(await read({ path, line_from: 1, line_to: 2 })).toBe(hint);
    expect(await read({ path, stat: true, revision: false })).toBe(
      `[binary: ${kind.replace(/, (\d+ bytes)$/, ", $1, …")}]`,
    );
    expect(await read({ paths: ["lf.txt", path] })).toBe(`==> lf.txt\none\ntwo\n==> ${path}\n${hint}`);
  });

  test("a binary of an unknown kind is not shown either, unless it is requested as text", async () => {
    expect(await read({ path: "nul.dat" })).toBe(
      '[binary, 7 bytes; send encoding "text" for its text, "base64" for its bytes]',
    );
    expect(await read({ path: "nul.dat", encoding: "text" })).toBe("abc\0def\n[no newline at the end]");
  });

  test("an edit in LF matches CRLF, keeps it, and its tool says so", async () => {
    const edit = { path: "crlf.txt", ops: [{ op: "str_replace", old_str: "one\ntwo", new_str: "1\n2" }] };
    expect((await connected.call("coder_update_file", edit)).isError).toBeUndefined();
    expect(readFileSync(join(connected.base, "crlf.txt"), "utf8")).toBe("1\r\n2\r\n");
    const { tools } = await connected.client.listTools();
    expect(tools.find(({ name }) => name === "coder_update_file")!.description).toContain("LF matches CRLF");
  });

  test("several files have ranges of their own", async () => {
    const files = [
      { path: "mixed.txt", line_from: 97, line_to: 98 },
      { path: "lf.txt", tail: 1 },
      { path: "lf.txt" },
    ];
    expect(await read({ files })).toBe(
      [
        "==> mixed.txt",
        "x",
        "y\r",
        "[mixed line ends: 3 CRLF, 97 LF]",
        "[lines 97 to 98 of 100; continue with line_from: 99]",
        "==> lf.txt",
        "two",
        "[lines 2 to 2 of 2]",
        "==> lf.txt",
        "one",
        "two",
        "",
      ].join("\n"),
    );
    const numbered = { files: [{ path: "lf.txt", tail: 1 }, { path: "lf.txt" }], numbered: true, line_to: 1 };
    expect(await read(numbered)).toBe(
      "==> lf.txt\n2→two\n[lines 2 to 2 of 2]\n==> lf.txt\n1→one\n[lines 1 to 1 of 2; continue with line_from: 2]",
    );
  });

  test.each([
    [{ files: [{ path: "lf.txt" }], path: "lf.txt" }, "`files` goes with neither"],
    [{ files: [{ path: "lf.txt" }], paths: ["lf.txt"] }, "`files` goes with neither"],
    [{ files: [] }, "path"],
    [{ files: [{ path: "lf.txt", line_from: 2, line_to: 1 }] }, "line_to (1) is below line_from (2)"],
    [{ files: [{ path: "lf.txt", tail: 2, line_to: 1 }] }, "tail"],
    [{ files: [{ path: "lf.txt", tail: 2 }], stat: true }, "tail"],
    [{ files: [{ line_to: 1 }] }, "files[0].path"],
  ])("%j is refused", async (args, words) => {
    const refused = await connected.call("coder_read_file", args);
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain("C210");
    expect(textOf(refused)).toContain(words);
  });

  test("modes are seen: of files and folders by stat, and in listings", async () => {
    const statOf = async (path: string) =>
      textOf(await connected.call("coder_read_file", { path, stat: true, revision: false }));
    expect(await statOf("private")).toMatch(/^\[folder, mode 0700, changed \d{4}-[^\]]+\]$/);
    expect(await statOf("folder/")).toMatch(/^\[folder, mode 0755, changed /);
    expect(await statOf(".")).toMatch(/^\[folder, mode 0755, changed /);
    expect(textOf(await connected.call("coder_list_folder", { path: "folder" }))).toBe("run.sh  4  0755");
    expect(textOf(await connected.call("coder_list_folder", {}))).toContain("\nprivate/  0700\n");
    const text = await connected.call("coder_read_file", { path: "private" });
    expect(textOf(text)).toContain("C210");
  });

  test("bytes come out in base64, and go in so", async () => {
    const content = await read({ path: "a.zip", encoding: "base64" });
    expect(content).toBe(zip.toString("base64"));
    const created = await connected.call("coder_create_file", {
      path: "copy.zip",
      content: content.replace(/.{76}/g, "$&\n"),
      encoding: "base64",
    });
    expect(withoutCheckpoint(textOf(created))).toBe("copy.zip: created, 60004 bytes");
    expect(readFileSync(join(connected.base, "copy.zip")).equals(zip)).toBe(true);
    const transacted = await connected.call("coder_transact", {
      changes: [{ op: "create", path: "four.bin", content: "AAH/gA==", encoding: "base64" }],
    });
    expect(textOf(transacted)).toContain("four.bin: created, 4 bytes");
    expect(readFileSync(join(connected.base, "four.bin"))).toEqual(latin1("\0\x01\xff\x80"));
  });

  test.each(["é", "AAAA=AAA", "AAA", "A B="])("%j is not base64, and nothing is written", async (content) => {
    const refused = await connected.call("coder_create_file", {
      path: "no.bin",
      content,
      encoding: "base64",
    });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain("is not base64");
    const missing = await connected.call("coder_read_file", { path: "no.bin" });
    expect(textOf(missing)).toContain("C211");
  });

  test("a short sound is played, a long one is named", async () => {
    const { content } = await connected.call("coder_read_file", { path: "a.wav" });
    expect(content as unknown).toEqual([
      { type: "audio", data: wav.toString("base64"), mimeType: "audio/wav" },
    ]);
    expect(await read({ path: "b.wav" })).toStartWith("[binary: WAV audio, 200116 bytes;");
  });

  test("a binary is a resource with its bytes", async () => {
    const uri = "coder:///a.zip";
    const { contents } = await connected.client.readResource({ uri });
    expect(contents as unknown).toEqual([
      { uri, mimeType: "application/octet-stream", blob: zip.toString("base64") },
    ]);
  });

  test("the contract profile shows what 0.2.0 shows", async () => {
    await using contract = await connectStdio("executable", { tree, config: { profile: "contract" } });
    for (const path of ["crlf.txt", "a.zip", "utf16.txt"]) {
      const text = textOf(await contract.call("coder_read_file", { path }));
      expect(text).toStartWith(readFileSync(join(contract.base, path), "utf8"));
      expect(text).not.toContain("CRLF]");
    }
    expect(textOf(await contract.call("coder_list_folder", { path: "folder" }))).toBe("run.sh  4");
    expect(textOf(await contract.call("coder_read_file", { path: "folder", stat: true }))).toContain("C210");
  });
});
