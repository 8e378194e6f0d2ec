/** Matches in random files are those of ripgrep, except for the differences that coder §16 names. */
import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { ripgrep as program } from "../ignore/ripgrep.test-kit.ts";
import {
  type LineQuery,
  plain,
  rangesIn,
  searchIn,
  searchSpansIn,
  type TextRange,
} from "./lines.test-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
const file = join(folder, "a");
afterAll(() => rmSync(folder, { recursive: true }));

interface Message {
  readonly type: string;
  readonly data: {
    readonly lines: { readonly text: string };
    readonly line_number: number;
    readonly absolute_offset: number;
    readonly submatches: readonly { readonly start: number; readonly end: number }[];
  };
}

/**
 * Returns ripgrep's messages about the text, or `undefined` for a pattern that it refuses, or that makes
 * ripgrep 15.0.0 panic.
 */
function ripgrep(text: Buffer, pattern: string, options: readonly string[]): Message[] | undefined {
  writeFileSync(file, text);
  const { status, stdout } = spawnSync(program, [
    "--no-config",
    "--json",
    "--crlf",
    ...options,
    "-e",
    pattern,
    file,
  ]);
  if (status !== 0 && status !== 1) return undefined;
  return stdout
    .toString()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Message);
}

/** Returns the ranges of the matches in the file. ripgrep also finds empty matches within characters. */
const rangesOf = (messages: readonly Message[], text: Buffer): TextRange[] =>
  messages
    .filter(({ type }) => type === "match")
    .flatMap(({ data }) =>
      data.submatches.map(
        ({ start, end }): TextRange => [data.absolute_offset + start, data.absolute_offset + end],
      ),
    )
    .filter(([start]) => ((text[start] ?? 0) & 0xc0) !== 0x80);

/**
 * Returns whether ripgrep shows the match. It omits an empty match at the end of a last line without newline.
 */
const isShown =
  (text: Buffer) =>
  ([start]: TextRange): boolean =>
    start < text.length;

/**
 * Adds a branch that matches nothing here but could match a newline. Without one, ripgrep searches line by
 * line.
 */
const overLinesAnyhow = (pattern: string): string => `(?:${pattern})|\\n\\x01`;

const content = fc
  .array(
    fc.tuple(
      fc.constantFrom(..."foo,bar,Foo,é,жук,x,xx, ,(,),{,},12,;,😀".split(",")),
      fc.constantFrom("", "", " ", "\n", "\n", "\n\n", "\r\n"),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Buffer.from(parts.flat().join("")));

const atoms =
  "foo,o,x,é,[a-f],[^o],\\w,\\d,\\s,\\S,.,\\b,\\B,^,$,(x),(foo|bar),(?i:F),\\(,\\{,[^x\\n],\\p{L}".split(",");
const overLines = [...atoms, "\\n", "\\r\\n", "(?s:.)", "\\s*\\n", "\\A", "\\z", "o\\n\\s*f"];
const times = fc.constantFrom("", "", "", "", "*", "+", "?", "{2}", "+?", "*?");

const patternOf = (parts: readonly string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...parts), times), { minLength: 1, maxLength: 4 })
    .map((chosen) => chosen.map(([part, count]) => (count === "" ? part : `(?:${part})${count}`)).join(""));

const runs = propertyRuns(100);
const queryOf = (pattern: string, fields: Partial<LineQuery>): LineQuery => ({
  ...plain,
  pattern,
  regex: true,
  ...fields,
});

test("every match of a line", () => {
  fc.assert(
    fc.property(content, patternOf(atoms), (text, pattern) => {
      const messages = ripgrep(text, pattern, []);
      fc.pre(messages !== undefined);
      const found = rangesIn(searchIn(text, queryOf(pattern, { every: true })), text);
      expect(found.filter(isShown(text))).toEqual(rangesOf(messages, text));
    }),
    runs,
  );
});

test("matches over lines", () => {
  fc.assert(
    fc.property(content, patternOf(overLines), (text, pattern) => {
      const messages = ripgrep(text, overLinesAnyhow(pattern), ["--multiline"]);
      fc.pre(messages !== undefined);
      const found = rangesIn(searchSpansIn(text, queryOf(pattern, { every: true })), text);
      expect(found.filter(isShown(text))).toEqual(rangesOf(messages, text));
    }),
    runs,
  );
});

/**
 * ASCII text without "\r", because in ripgrep an empty match within a character, or within "\r\n", is enough
 * for a line to match.
 */
const ascii = content.map((text) =>
  Buffer.from(
    text
      .toString()
      .replace(/[^\0-\x7f]/gu, "z")
      .replaceAll("\r", ""),
  ),
);

const around = fc.record({ linesBefore: fc.nat(3), linesAfter: fc.nat(3) });

test("lines around matches, where each is counted once", () => {
  fc.assert(
    fc.property(ascii, patternOf(atoms), around, (text, pattern, context) => {
      const { linesBefore, linesAfter } = context;
      const messages = ripgrep(text, pattern, ["-B", `${linesBefore}`, "-A", `${linesAfter}`]);
      fc.pre(messages !== undefined);
      const matches = searchIn(text, queryOf(pattern, context));
      const lines = new Map<number, string>();
      for (const { line, before = [], after = [] } of matches) {
        for (const [index, shown] of before.entries()) lines.set(line - before.length + index, shown);
        for (const [index, shown] of after.entries()) lines.set(line + 1 + index, shown);
      }
      for (const { line } of matches) lines.delete(line);
      const expected = messages
        .filter(({ type }) => type === "context")
        .map(({ data }): [number, string] => [data.line_number, data.lines.text.replace(/\r?\n$/, "")]);
      expect([...lines].sort(([one], [other]) => one - other)).toEqual(expected);
    }),
    runs,
  );
});

test("disjoint lines around matches come in ripgrep's order, each once", () => {
  fc.assert(
    fc.property(ascii, patternOf(atoms), around, (text, pattern, context) => {
      const { linesBefore, linesAfter } = context;
      const messages = ripgrep(text, pattern, ["-B", `${linesBefore}`, "-A", `${linesAfter}`]);
      fc.pre(messages !== undefined);
      const matches = searchIn(text, queryOf(pattern, { ...context, disjointContext: true }));
      const lines = matches.flatMap(({ line, before = [], text: shown, after = [] }) =>
        [...before, shown, ...after].map((one, index) => [line - before.length + index, one]),
      );
      const expected = messages
        .filter(({ type }) => type === "context" || type === "match")
        .map(({ data }) => [data.line_number, data.lines.text.replace(/\r?\n$/, "")]);
      expect(lines).toEqual(expected);
    }),
    runs,
  );
});
