import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { dropReturnsInPlace, FormerLines, type LineEnding, withoutReturns } from "./line-ends.ts";

const names = { "\n": "lf", "\r\n": "crlf", "": "none" } as const;

/** Returns the names of the endings of lines that replace others, which are written as `text:crlf`. */
function endings(lines: string, replaced: string, before: LineEnding): string {
  const old = new FormerLines();
  for (const line of replaced.split(" ").filter(Boolean)) {
    const [text = "", name] = line.split(":");
    old.add(text, name === "crlf" ? "\r\n" : name === "lf" ? "\n" : "");
  }
  return runAtOnce(old.endingsFor(lines.split(" "), before))
    .map((ending) => names[ending])
    .join(" ");
}

test.each([
  ["a line in the place of another", "A", "a:crlf", "crlf"],
  ["a further line", "A x", "a:crlf", "crlf crlf"],
  ["a line after one that stays", "a x", "a:crlf", "crlf crlf"],
  ["a line before one that stays", "x a", "a:crlf", "lf crlf"],
  ["lines one by one", "A B C", "a:crlf b:lf c:crlf", "crlf lf crlf"],
  ["lines after one that is removed", "b c", "a:crlf b:lf c:crlf", "lf crlf"],
  ["lines around one that is removed", "a c D", "a:crlf b:lf c:crlf d:lf", "crlf crlf lf"],
  ["lines around one that is added", "A b x c", "a:crlf b:lf c:crlf", "crlf lf lf crlf"],
  ["lines around one that moves down", "A x b C", "a:crlf b:lf c:crlf", "crlf crlf lf crlf"],
  ["lines around several that move down", "x y b c D", "b:crlf c:lf d:crlf", "lf lf crlf lf crlf"],
  ["a line in the place of the last", "A x", "a", "lf lf"],
  ["lines that replace none", "x y", "", "lf lf"],
])("the ending of %s", (_, lines, replaced, expected) => {
  expect(endings(lines, replaced, "\n")).toBe(expected);
});

test("many lines that are the same take no longer than others", () => {
  const replaced = new FormerLines();
  for (let at = 0; at < 100_000; at++) replaced.add("}", at % 2 === 0 ? "\n" : "\r\n");
  const lines = ["x", ...Array(100_000).fill("}"), "y"];
  const endings = runAtOnce(replaced.endingsFor(lines, "\n"));
  expect(endings.slice(0, 4)).toEqual(["\n", "\n", "\r\n", "\n"]);
});

/** Returns the endings in the slow, obvious way. */
function expectedEndings(
  lines: readonly string[],
  former: readonly (readonly [string, LineEnding | ""])[],
  before: LineEnding,
): LineEnding[] {
  let common = 0;
  while (
    common < Math.min(lines.length, former.length) &&
    lines.at(-1 - common) === former.at(-1 - common)![0]
  )
    common++;
  const replaced = former.slice(0, former.length - common);
  let after = 0;
  const places = lines.map((line, at) => {
    const isCommon = at >= lines.length - common;
    const same = replaced.findIndex(([text], place) => place >= after && text === line);
    const place = isCommon ? former.length - lines.length + at : same;
    if (place >= 0) after = place + 1;
    return place;
  });
  let [ending, next] = [before, 0];
  return lines.map((_, at) => {
    const limit = places.slice(at).find((place) => place >= 0) ?? replaced.length;
    const place = places[at]! >= 0 ? places[at]! : next;
    if (places[at]! >= 0 || place < limit) {
      ending = former[place]![1] || ending;
      next = place + 1;
    }
    return ending;
  });
}

const someLines = fc.array(fc.constantFrom("", "a", "b", "é"), { maxLength: 12 });

test("lines with their endings are those that a slow way gives", () => {
  fc.assert(
    fc.property(
      someLines,
      someLines,
      fc.array(fc.constantFrom<LineEnding>("\n", "\r\n"), { minLength: 12, maxLength: 12 }),
      fc.constantFrom<LineEnding>("\n", "\r\n"),
      (lines, texts, endings, before) => {
        const former = texts.map((text, at) => [text, endings[at]!] as const);
        const wanted = expectedEndings(lines, former, before);
        const part = Buffer.from(former.flat().join(""));
        const old = new FormerLines();
        runAtOnce(old.addPart(part));
        const written = runAtOnce(
          old.endLines(Buffer.from(lines.map((line) => `${line}\n`).join("")), before),
        );
        expect(written.toString()).toBe(lines.map((line, at) => line + wanted[at]!).join(""));
      },
    ),
  );
});

test("a million lines take many steps", () => {
  const lines = Array.from({ length: 1_000_000 }, (_, at) => (at % 3 === 0 ? "x" : String(at % 1000)));
  const part = Buffer.from(lines.map((line, at) => line + (at % 2 === 0 ? "\n" : "\r\n")).join(""));
  const text = Buffer.from(
    lines
      .toReversed()
      .map((line) => `${line}\n`)
      .join(""),
  );
  const old = new FormerLines();
  expect([...old.addPart(part)].length).toBeGreaterThan(200);
  expect([...old.endLines(text, "\n")].length).toBeGreaterThan(700);
});

test("returns are dropped in place as in a copy", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "\r", "\n", "\r\n", "é"), { maxLength: 20 }), (parts) => {
      const text = Buffer.from(parts.join(""));
      const copied = runAtOnce(withoutReturns(text)).toString();
      expect(copied).toBe(parts.join("").replaceAll("\r\n", "\n"));
      expect(dropReturnsInPlace(text).toString()).toBe(copied);
    }),
  );
});
