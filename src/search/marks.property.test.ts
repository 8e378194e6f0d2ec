/** Matches in files with byte order marks, in UTF-16 and with NUL bytes are those of ripgrep. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { createCodec, type Encoding } from "../text/encodings/codec.ts";
import { ripgrep } from "./ignore/ripgrep.test-kit.ts";
import { openSearcher, type RequestFields } from "./search.test-kit.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
let plain: ReturnType<typeof openSearcher>;
let indexed: ReturnType<typeof openSearcher>;
beforeAll(() => {
  const index = { mode: "verified" as const, maxBytes: 2 ** 24 };
  plain = openSearcher(base, { backend: "openat", threads: false });
  indexed = openSearcher(base, { backend: "openat", threads: 1, index });
});
afterAll(async () => {
  await plain.close();
  await indexed.close();
  rmSync(base, { recursive: true });
});

interface Message {
  readonly type: "begin" | "match" | "end" | "summary";
  readonly data: {
    readonly path: { readonly text: string };
    readonly lines: { readonly text?: string; readonly bytes?: string };
    readonly line_number: number;
    readonly submatches: readonly { readonly start: number }[];
    readonly binary_offset: number | null;
  };
}

/** A match as path, line, column and text. */
type Match = readonly [path: string, line: number, column: number, text: string];

function textOf({ text, bytes = "" }: Message["data"]["lines"]): string {
  return (text ?? Buffer.from(bytes, "base64").toString()).replace(/\r?\n$/, "");
}

/** Returns the matches of ripgrep, except those in files that it found to be binary later. */
function matchesOfRipgrep(pattern: string, flags: readonly string[]): Match[] {
  const { stdout, status } = spawnSync(
    ripgrep,
    ["--no-config", "--json", "--crlf", "--sort", "path", ...flags, "-e", pattern, "./"],
    { cwd: base, maxBuffer: 1 << 28 },
  );
  expect(status).toBeLessThan(2);
  const messages = stdout.toString().split("\n").filter(Boolean);
  const all = messages.map((line) => JSON.parse(line) as Message);
  const isBinary = new Set(
    all
      .filter(({ type, data }) => type === "end" && data.binary_offset !== null)
      .map(({ data }) => data.path.text),
  );
  return all
    .filter(({ type, data }) => type === "match" && !isBinary.has(data.path.text))
    .map(({ data }) => [
      data.path.text.slice(2),
      data.line_number,
      data.submatches[0]!.start + 1,
      textOf(data.lines),
    ]);
}

const piece = fc.constantFrom(
  "foo",
  "test123",
  " ",
  "é",
  "жук",
  "x\n",
  "foo\n",
  "\n",
  "y\r\n",
  "\ufeff",
  "\ufffd",
);
const text = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(""));
/** Distances of a NUL from the beginning, some of them at the ends of the buffers of readers. */
const distance = fc.constantFrom(0, 1, 1000, 1024, 8192, 65_530, 65_536, 70_000, 140_000);
/** Returns lines with a total of `length` bytes. */
const filler = (length: number): string => "filler line\n".repeat(Math.ceil(length / 12)).slice(0, length);

const marks: Readonly<Record<string, Encoding>> = {
  "utf-8": "utf-8",
  marked: "utf-8",
  le: "utf-16le",
  be: "utf-16be",
};

const file = fc
  .record({
    form: fc.constantFrom(...Object.keys(marks), "latin1"),
    head: text,
    length: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, distance),
    middle: fc.constantFrom("", "", "\0", "foo\0"),
    tail: text,
  })
  .map(({ form, head, length, middle, tail }): Buffer => {
    // ripgrep drops a second mark of UTF-16 too.
    const content = head.replace(/^\ufeff+/, "") + filler(length) + middle + tail.replace(/^\ufeff+/, "");
    if (form === "latin1") return Buffer.from(content, "latin1");
    const mark = form === "utf-8" ? "" : "\ufeff";
    return Buffer.from(createCodec(marks[form]!).encode(mark + content));
  });

const query = fc.constantFrom<readonly [string, Partial<RequestFields>, readonly string[]]>(
  ["foo", {}, []],
  ["^test123", {}, []],
  ["^foo", {}, []],
  ["^[xy]", {}, []],
  ["foo$", {}, []],
  ["é|ж", {}, []],
  ["FOO", { ignoreCase: true }, ["--ignore-case"]],
);

/** Returns whether a file has a NUL in its text. */
function isBinary(bytes: Buffer): boolean {
  const mark = bytes.toString("latin1", 0, 2);
  const encoding = mark === "\xff\xfe" ? "utf-16le" : mark === "\xfe\xff" ? "utf-16be" : "utf-8";
  return createCodec(encoding).decode(bytes).includes("\0");
}

test("lines, columns and binaries", async () => {
  let names: string[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { minLength: 1, maxLength: 6 }),
      query,
      async (files, [pattern, fields, flags]) => {
        for (const name of names) rmSync(join(base, name));
        names = files.map((bytes, index) => {
          writeFileSync(join(base, `f${index}`), bytes);
          return `f${index}`;
        });
        const request = {
          pattern,
          regex: true,
          paths: false,
          maxMatches: 100_000,
          decodes: true,
          findsBinaries: true,
          ...fields,
        };
        const page = { maxBytes: 2 ** 20, milliseconds: undefined, after: undefined, seal: () => "" };
        const {
          content_matches: found,
          skipped,
          searched,
        } = await plain.search({
          ...request,
          page,
          isExtended: true,
        });
        const matches = found.map(({ path, line, column, text }): Match => [path, line, column, text]);
        expect(matches).toEqual(matchesOfRipgrep(pattern, flags));
        const binaries = files.filter(isBinary).length;
        expect([skipped?.binary, searched?.files]).toEqual([binaries, files.length - binaries]);
        const again = await indexed.search({ ...request, page, isExtended: true });
        expect(again.content_matches).toEqual(found);
        expect([again.skipped, again.searched]).toEqual([skipped, searched]);
      },
    ),
    propertyRuns(60),
  );
});
