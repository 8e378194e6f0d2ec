import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { validUtf8 } from "../encodings/codec.ts";
import { countFitting, numberBytes, numberContent, textContent } from "./content.ts";

const lengths = fc.array(fc.nat(30), { maxLength: 300 });

test("the lines that fit are those that a count line by line gives", () => {
  fc.assert(
    fc.property(
      fc.tuple(lengths, fc.array(fc.nat(200_000), { maxLength: 5 }), lengths),
      fc.nat(600_000),
      fc.option(fc.integer({ min: 1, max: 2000 }), { nil: undefined }),
      (parts, maxBytes, numberedFrom) => {
        const lines = parts.flat().map((length) => `${"x".repeat(length)}\n`);
        const file = Buffer.from(`${lines.join("")}rest`);
        let [used, wanted] = [0, 0];
        for (const line of lines) {
          used += line.length;
          const numbered = { first: numberedFrom ?? 1, lines: wanted + 1 };
          if (used + (numberedFrom === undefined ? 0 : numberBytes(numbered)) > maxBytes) break;
          wanted++;
        }
        expect(countFitting(file, { maxBytes, numberedFrom })).toBe(wanted);
      },
    ),
    { numRuns: 300 },
  );
});

test.each([
  ["", 1],
  ["a", 1],
  ["a\n", 9],
  ["é\n\nb\r\nc", 98],
  ["\ufeffa\nb\n", 1],
  ["x\n".repeat(1200), 1],
  ["x\n".repeat(30), 99_990],
])("lines of %j are numbered from %d", (text, first) => {
  for (const bytes of [Buffer.from(text), Buffer.concat([Buffer.from(text), Buffer.of(0xff)])]) {
    const file = runAtOnce(validUtf8(bytes));
    const content = runAtOnce(textContent(file));
    const mark = first === 1 && content.text.startsWith("\ufeff") ? "\ufeff" : "";
    const lines = content.text
      .slice(mark.length)
      .split(/(?<=\n)/)
      .filter(Boolean);
    const wanted = mark + lines.map((line, at) => `${first + at}→${line}`).join("");
    const numbered = runAtOnce(numberContent(content, file, { first, lines: lines.length }));
    expect(numbered.text).toBe(wanted);
    expect(numbered.bytes).toBe(Buffer.byteLength(wanted));
  }
});

test("bytes that are not UTF-8 become text in many steps", () => {
  const size = 4 * 1024 * 1024;
  for (const unit of ["\x80", "\xed\xa0\x80", "caf\xe9 ", "\x80\n", "\xc3\xa9\x80", "\xe6\xbc\xa2"]) {
    const bytes = Buffer.concat([Buffer.alloc(size, unit, "latin1"), Buffer.of(0x80)]);
    const file = validUtf8(bytes);
    let steps = 0;
    let read = file.next();
    for (; !read.done; read = file.next()) steps++;
    expect(steps).toBeGreaterThan(size / (256 * 1024));
    const content = textContent(read.value);
    let made = content.next();
    for (steps = 0; !made.done; made = content.next()) steps++;
    expect(steps).toBeGreaterThan(size / (512 * 1024));
    const text = bytes.toString();
    const { isUtf8, ...sizes } = made.value;
    expect(sizes.text === text).toBe(true);
    expect([isUtf8, sizes.bytes]).toEqual([true, Buffer.byteLength(text)]);
    expect(sizes.jsonBytes).toBe(Buffer.byteLength(JSON.stringify(text)));
  }
});
