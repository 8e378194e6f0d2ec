/** `stat` of all files that globs select, to find the largest, the longest and the newest. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

const tree = {
  ".gitignore": "out/\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  ".env.ts": "const a = 1;\n",
  "secrets/key.ts": "x\n",
  "src/a.ts": "one\ntwo\nthree\n",
  "src/b.ts": `${"x".repeat(500)}\r\n`,
  "src/deep/c.ts": { text: "one\ntwo", mode: 0o755 },
  "src/d.bin.ts": Buffer.from("\0\n\n\n\n\n\n\n", "latin1"),
  "src/e.md": "e\n",
  "out/f.ts": "f\n",
  "node_modules/g/g.ts": "g\n",
};
const times: Readonly<Record<string, number>> = { "src/a.ts": 3000, "src/b.ts": 1000, "src/deep/c.ts": 2000 };

const leftOut =
  "[not listed: .git/, node_modules/ excluded, out/ ignored, 2 denied; send such a folder as path to list it]";

describe("stat with include_globs", () => {
  let connected: McpFixture;
  const stat = async (args: Record<string, unknown>, from = connected) => {
    const answer = await from.call("coder_read_file", { include_globs: ["*.ts"], stat: true, ...args });
    expect(answer.isError).toBeUndefined();
    return textOf(answer).split("\n");
  };

  beforeAll(async () => {
    connected = await connectStdio("executable", { tree });
    for (const [path, seconds] of Object.entries(times))
      utimesSync(join(connected.base, path), seconds, seconds);
  });

  afterAll(() => connected[Symbol.asyncDispose]());

  const lines = {
    a: "src/a.ts  14 bytes, 3 lines",
    b: "src/b.ts  502 bytes, 1 line, CRLF",
    c: "src/deep/c.ts  7 bytes, 2 lines, mode 0755, no newline at the end",
    d: "src/d.bin.ts  binary, 8 bytes",
  };

  test.each([
    [{}, [lines.a, lines.b, lines.d, lines.c]],
    [{ sort: "path" }, [lines.a, lines.b, lines.d, lines.c]],
    [{ sort: "size" }, [lines.b, lines.a, lines.d, lines.c]],
    [{ sort: "lines" }, [lines.a, lines.c, lines.b, lines.d]],
  ])("%j", async (args, expected) => {
    expect(await stat(args)).toEqual([...expected, leftOut]);
  });

  test("the newest come first, with their times", async () => {
    const [newest, ...others] = await stat({ sort: "modified", include_globs: ["*.ts", "!d.bin.ts"] });
    expect([newest, ...others]).toEqual([
      "src/a.ts  14 bytes, 3 lines, changed 1970-01-01T00:50:00Z",
      "src/deep/c.ts  7 bytes, 2 lines, mode 0755, changed 1970-01-01T00:33:20Z, no newline at the end",
      "src/b.ts  502 bytes, 1 line, changed 1970-01-01T00:16:40Z, CRLF",
      leftOut,
    ]);
  });

  test("path is where it starts, also in a folder that is left out otherwise", async () => {
    expect(await stat({ path: "src/deep" })).toEqual([lines.c]);
    expect(await stat({ path: "node_modules" })).toEqual(["node_modules/g/g.ts  2 bytes, 1 line"]);
    expect(await stat({ path: "out", include_globs: "*" })).toEqual(["out/f.ts  2 bytes, 1 line"]);
  });

  test("a glob that matches nothing is named", async () => {
    expect(await stat({ include_globs: ["*.rs"], path: "src" })).toEqual([
      "[no file matches include_globs]",
      '[matched nothing: include_globs "*.rs"]',
    ]);
    expect(await stat({ include_globs: ["src\\*.md"] })).toContain(
      '[matched nothing: include_globs "src\\\\*.md" (a backslash escapes what follows it; "src/*.md" has "/" between names)]',
    );
  });

  test("a revision is answered only where it is requested, and is that of the file", async () => {
    const [line] = await stat({ path: "src/deep", revision: true });
    const single = textOf(await connected.call("coder_read_file", { path: "src/deep/c.ts", revision: true }));
    const revision = /\[(revision \S+)\]/.exec(single)?.[1];
    expect(revision).toBeDefined();
    expect(line).toBe(`${lines.c}, ${revision}`);
  });

  test.each([
    [{ include_globs: ["*.ts"] }, "Send `stat`: true"],
    [{ include_globs: ["*.ts"], stat: true, paths: ["src/a.ts"] }, "not with `paths`"],
    [{ include_globs: ["*.ts"], stat: true, files: [{ path: "src/a.ts" }] }, "not with `files`"],
    [{ include_globs: ["*.ts"], stat: true, tail: 3 }, "`tail` has no use here"],
    [{ include_globs: ["{a"], stat: true }, "`include_globs` holds a bad glob"],
    [{ include_globs: ["*.ts"], stat: true, path: "src/a.ts" }, "C210 wrong_kind"],
    [{ include_globs: ["*.ts"], stat: true, path: "../x" }, "C215"],
    [{ include_globs: ["*.ts"], stat: true, path: "none" }, "C211"],
    [{ path: "src/a.ts", stat: true, sort: "size" }, "`sort` is for the files that `include_globs` selects"],
    [{ glob: "*.ts", stat: true }, "Send `include_globs`"],
  ])("%j is refused", async (args, words) => {
    const refused = await connected.call("coder_read_file", args);
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain(words);
  });

  test("it waits for the writes that were sent before it", async () => {
    for (let round = 0; round < 20; round++) {
      const path = `order/${round}.ts`;
      const [, lines] = await Promise.all([
        connected.call("coder_create_file", { path, content: "1\n2\n" }),
        stat({ include_globs: [path] }),
      ]);
      expect(lines[0]).toBe(`${path}  4 bytes, 2 lines`);
    }
  });

  test("of many files the first are shown, and JSON has the same facts", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 130 }, (_, index) => [`f${index}.txt`, "x\n".repeat(index)]),
    );
    await using other = await connectStdio("executable", { tree: many, args: ["--structured"] });
    const request = { include_globs: ["*.txt"], stat: true, sort: "lines" };
    const answer = await other.call("coder_read_file", request);
    const shown = textOf(answer).split("\n");
    expect(shown.slice(0, 2)).toEqual(["f129.txt  258 bytes, 129 lines", "f128.txt  256 bytes, 128 lines"]);
    expect(shown.slice(99)).toEqual([
      "f30.txt  60 bytes, 30 lines",
      "[the longest 100 of 130 files; for the others send narrower globs]",
    ]);
    const { results, total_files } = answer.structuredContent as {
      results: Record<string, unknown>[];
      total_files: number;
    };
    expect([results.length, total_files]).toEqual([100, 130]);
    const { mtime, mode } = statSync(join(other.base, "f129.txt"));
    expect(results[0]).toEqual({
      path: "f129.txt",
      is_utf8: true,
      size: 258,
      mode: mode & 0o777,
      mtime: Math.floor(mtime.getTime() / 1000),
      total_lines: 129,
      success: true,
    });
  });

  test("nothing is changed by it", () => {
    expect(readFileSync(join(connected.base, "src/a.ts"), "utf8")).toBe("one\ntwo\nthree\n");
  });

  test("a file over max_read_bytes comes first by lines, which it says are not counted", async () => {
    await using small = await connectStdio("executable", { config: { max_read_bytes: 100 } });
    writeFileSync(join(small.base, "big.ts"), "x".repeat(200));
    writeFileSync(join(small.base, "long.ts"), "\n".repeat(50));
    expect(await stat({ sort: "lines" }, small)).toEqual([
      "big.ts  200 bytes, lines not counted (over max_read_bytes)",
      "long.ts  50 bytes, 50 lines",
    ]);
  });
});
