import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { FormerLines, type LineEnding } from "../encodings/line-ends.ts";
import { createRegexEngine } from "./rust-regex.ts";

const engine = createRegexEngine();
afterAll(() => engine.close());

const limits = () => ({ path: "a.txt", maxBytes: 100_000, deadline: deadlineIn(Number.POSITIVE_INFINITY) });

/** Patterns of Rust, each with one of JavaScript that matches the same. */
const patterns: readonly (readonly [string, RegExp])[] = [
  ["a", /a/g],
  ["a.", /a[^\n]/g],
  ["(?m)(.+)$", /([^\n]+)(?=\n|$(?![\s\S]))/g],
  ["(?m)^", /(?<=\n|^(?<![\s\S]))/g],
  ["b\\n", /b\n/g],
  ["\\n", /\n/g],
  ["\\na", /\na/g],
  ["a\\nb?", /a\nb?/g],
  ["[^a]", /[^a]/g],
  ["\\s+", /[\n\r ]+/g],
  ["\\r", /\r/g],
  ["(?s)a.*b", /a[\s\S]*b/g],
  ["x*", /x*/g],
];
const replacements = ["", "y", "<$1>", "y\nz", "\n", "y\r\nz\n", "é"];

const text = fc.array(fc.constantFrom("a", "b", " ", "\r", "\n", "\r\n", "\n", "\r\n"), { maxLength: 14 });

/** One character of the text that patterns see, with its bytes in the file. */
interface Unit {
  readonly seen: string;
  readonly bytes: string;
}

const unitsOf = (file: string): Unit[] =>
  (file.match(/\r\n|[\s\S]/g) ?? []).map((bytes) => ({ seen: bytes === "\r\n" ? "\n" : bytes, bytes }));

const endsIn = (units: readonly Unit[]): string[] =>
  units.filter(({ seen }) => seen === "\n").map(({ bytes }) => bytes);

/** Returns what a replacement makes of a file that has a CRLF, in the slow, obvious way. */
function expected(file: string, pattern: RegExp, template: string): { text: string; count: number } {
  const units = unitsOf(file);
  const seen = units.map((unit) => unit.seen).join("");
  const matches = [...seen.matchAll(pattern)].filter(
    // An empty match at the end of the match before it does not count in Rust.
    ({ index, 0: match }, at, all) =>
      at === 0 || match !== "" || index !== all[at - 1]!.index + all[at - 1]![0].length,
  );
  let [result, at] = ["", 0];
  for (const { index, 0: match, 1: group = "" } of matches) {
    const replaced = units.slice(index, index + match.length);
    result += units
      .slice(at, index)
      .map(({ bytes }) => bytes)
      .join("");
    at = index + match.length;
    const written = template.replaceAll("\r\n", "\n").replace("$1", () => group);
    const before = endsIn(units.slice(0, index)).at(-1) ?? endsIn(units.slice(index))[0] ?? "\n";
    const own = endsIn(units.slice(at))[0] ?? "";
    const ends = endsIn(replaced);
    const old = match.split("\n").map((text, n) => ({ text, ending: ends[n] ?? own }));
    const lines = written.split("\n");
    // A rest that stays is not replaced, nor is an empty one after a line end.
    const rest = old.at(-1)!.text;
    if (rest === lines.at(-1) || (rest === "" && old.length > 1)) old.pop();
    const former = new FormerLines();
    for (const { text, ending } of old) former.add(text, ending as LineEnding | "");
    const endings = runAtOnce(former.endingsFor(lines.slice(0, -1), before as LineEnding));
    result += lines.map((line, n) => line + (endings[n] ?? "")).join("");
  }
  return {
    text:
      result +
      units
        .slice(at)
        .map(({ bytes }) => bytes)
        .join(""),
    count: matches.length,
  };
}

const ofTemplate = (template: string, pattern: string) =>
  pattern.includes("(.") ? template : template.replace("$1", "1");

test("a replacement sees each line end as a line feed, and keeps the others", async () => {
  await fc.assert(
    fc.asyncProperty(
      text.filter((parts) => parts.join("").includes("\r\n")),
      fc.constantFrom(...patterns),
      fc.constantFrom(...replacements),
      async (parts, [pattern, js], template) => {
        const file = parts.join("");
        const replacement = ofTemplate(template, pattern);
        const body = Buffer.from(file);
        const job = { pattern, replacement, ignoreCase: false, strict: true, keepsLineEnds: true };
        const wanted = expected(file, js, replacement);
        const plain = await engine.replaceAll(body, job, limits());
        expect(plain.toString()).toBe(wanted.text);
        const traced = await engine.replaceTraced(body, job, limits());
        expect([traced.body.toString(), traced.count]).toEqual([wanted.text, wanted.count]);
        let [rebuilt, at, written] = ["", 0, 0];
        for (const { from, to, length } of traced.ranges!) {
          rebuilt += body.toString("utf8", at, from);
          written += from - at;
          rebuilt += traced.body.toString("utf8", written, written + length);
          [at, written] = [to, written + length];
        }
        expect(rebuilt + body.toString("utf8", at)).toBe(wanted.text);
      },
    ),
    { numRuns: 400 },
  );
});

test("a text in which matches cannot be marked keeps its line ends, or is refused", async () => {
  const marks = String.fromCharCode(...Array.from({ length: 32 }, (_, n) => 0xfdd0 + n));
  const file = `aa${marks}\r\na\r\n`;
  const job = { pattern: "a", replacement: "b\r\n", ignoreCase: false, keepsLineEnds: true };
  const { body, count } = await engine.replaceTraced(Buffer.from(file), job, limits());
  expect([body.toString(), count]).toEqual([file.replaceAll("a", "b\r\n"), 3]);
  const refused = await engine.replaceAll(Buffer.from(`${file}\n`), job, limits()).catch((error) => error);
  expect(refused).toMatchObject({ reason: "too-large" });
});

test("lines of a file are matched without their ends, and keep them", async () => {
  const inLines = async (file: string, pattern: string, replacement: string) => {
    const job = { pattern, replacement, ignoreCase: false, lines: "every" as const, keepsLineEnds: true };
    const { body, count } = await engine.replaceInLines(Buffer.from(file), job, limits());
    return [body.toString(), count];
  };
  expect(await inLines("x = 1\r\ny = 30\r\n", "= .*", "= 2")).toEqual(["x = 2\r\ny = 2\r\n", 2]);
  expect(await inLines("a 30\r\nb\n", "(.+)$", "<$1>")).toEqual(["<a 30>\r\n<b>\n", 2]);
  expect(await inLines("a\r\nb\n", "a\\n", "")).toEqual(["b\n", 1]);
  expect(await inLines("a\r\nb\nc\n", "b", "b\nd")).toEqual(["a\r\nb\nd\nc\n", 1]);
  expect(await inLines("a \r\nb ", "\\s+$", "")).toEqual(["a\r\nb", 2]);
});
