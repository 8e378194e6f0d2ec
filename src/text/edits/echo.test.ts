import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { type Echo, echoesOf, maxEchoBytes } from "./echo.ts";
import { countLines } from "./lines.ts";

const shownEchoes = (...args: Parameters<typeof echoesOf>) => runAtOnce(echoesOf(...args));

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}`);
const body = Buffer.from(`${numbered(100).join("\n")}\n`);
const at = (text: string) => body.indexOf(text);
const site = (from: string, to: string, index = 0) => ({ index, from: at(from), to: at(to) });

describe("an echo", () => {
  test("has two lines around the place", () => {
    expect(shownEchoes(body, [site("line 10", "line 12")])).toEqual({
      echoes: [{ op_index: 0, from_line: 8, lines: numbered(13).slice(7) }],
      isTruncated: false,
    });
  });

  test("of a removal has the lines before and behind it", () => {
    const [echo] = shownEchoes(body, [site("line 50", "line 50")]).echoes;
    expect(echo).toMatchObject({ from_line: 48, lines: numbered(51).slice(47) });
  });

  test("of a part of a line has that line", () => {
    const from = at("line 50") + 2;
    expect(shownEchoes(body, [{ index: 3, from, to: from, replacements: 1 }]).echoes).toEqual([
      { op_index: 3, from_line: 48, lines: numbered(52).slice(47), total_replacements: 1 },
    ]);
  });

  test("ends with the file", () => {
    expect(shownEchoes(body, [site("line 100", "line 100")]).echoes[0]).toMatchObject({
      from_line: 98,
      lines: numbered(100).slice(97),
    });
    const end = { index: 0, from: body.length, to: body.length };
    expect(shownEchoes(body, [end]).echoes[0]).toMatchObject({
      from_line: 99,
      lines: ["line 99", "line 100"],
    });
  });

  test("of more than 20 lines has the first and last 8", () => {
    const [sixteen] = shownEchoes(body, [site("line 11", "line 27")]).echoes;
    expect(sixteen?.lines).toEqual(numbered(28).slice(8));
    expect(sixteen).not.toHaveProperty("elided");
    expect(shownEchoes(body, [site("line 11", "line 28")]).echoes[0]).toEqual({
      op_index: 0,
      from_line: 9,
      lines: [...numbered(16).slice(8), ...numbered(29).slice(21)],
      elided: 5,
    });
  });

  test("of places whose lines meet is one", () => {
    const sites = [site("line 10\n", "line 11"), site("line 14\n", "line 15"), site("line 20\n", "line 21")];
    const { echoes } = shownEchoes(body, sites);
    expect(echoes.map(({ from_line, lines }) => [from_line, lines.length])).toEqual([
      [8, 9],
      [18, 5],
    ]);
    expect(
      shownEchoes(
        body,
        sites.map((one, index) => ({ ...one, index })),
      ).echoes.length,
    ).toBe(3);
  });

  test("of an op that replaced nothing has no lines", () => {
    expect(shownEchoes(body, [{ index: 1, from: 0, to: 0, replacements: 0 }]).echoes).toEqual([
      { op_index: 1, from_line: 0, lines: [], total_replacements: 0 },
    ]);
  });

  test("of an emptied file has no lines", () => {
    expect(shownEchoes(Buffer.alloc(0), [{ index: 0, from: 0, to: 0 }]).echoes).toEqual([
      { op_index: 0, from_line: 0, lines: [] },
    ]);
  });

  test("shows lines without their endings and their mark, and what is no UTF-8 as U+FFFD", () => {
    const bytes = Buffer.from("\xef\xbb\xbfa\r\nb\xff\r\n\r\nc\rd", "latin1");
    const [echo] = shownEchoes(bytes, [{ index: 0, from: 3, to: bytes.length }]).echoes;
    expect(echo).toMatchObject({ from_line: 1, lines: ["a", "b\ufffd", "", "c\rd"] });
  });
});

test("echoes come by op, whatever their places", () => {
  const sites = [site("line 90", "line 91", 0), site("line 10", "line 11", 1), site("line 50", "line 51", 2)];
  expect(shownEchoes(body, sites.toReversed()).echoes.map(({ from_line }) => from_line)).toEqual([88, 8, 48]);
});

test("long lines are cut, and it says so", () => {
  const { echoes, isTruncated } = shownEchoes(Buffer.from(`${"é".repeat(400)}\n`), [
    { index: 0, from: 0, to: 9 },
  ]);
  expect([echoes[0]?.lines, isTruncated]).toEqual([[`${"é".repeat(256)}…`], true]);
});

test("a long line is cut around the first place that changed", () => {
  const line = `${"é".repeat(300)}NEEDLE${"ü".repeat(300)}`;
  const from = Buffer.from(line).indexOf("NEEDLE");
  const sites = [{ index: 0, from: from + 6, to: from + 12 }];
  const { echoes, isTruncated } = shownEchoes(Buffer.from(`first\n${line}\nlast`), sites);
  expect(echoes[0]?.lines).toEqual(["first", `…${"é".repeat(64)}NEEDLE${"ü".repeat(189)}…`, "last"]);
  expect(isTruncated).toBe(true);
  const end = Buffer.byteLength(line);
  const atEnd = shownEchoes(Buffer.from(line), [{ index: 0, from: end, to: end }]);
  expect(atEnd.echoes[0]?.lines).toEqual([`…${"ü".repeat(64)}`]);
});

test("the echoes of a file have at most 4 KiB, and are right", () => {
  const places = fc.array(fc.tuple(fc.nat(body.length), fc.nat(300), fc.nat(30)), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(places, (list) => {
      const sites = list.map(([from, length, index]) => ({
        index,
        from,
        to: Math.min(from + length, body.length),
      }));
      const { echoes, isTruncated } = shownEchoes(body, sites);
      expect(Buffer.byteLength(JSON.stringify(echoes))).toBeLessThanOrEqual(maxEchoBytes);
      expect(isTruncated || new Set(sites.map(({ index }) => index)).size <= echoes.length).toBe(true);
      for (const { from_line, lines, elided = 0 } of echoes as Required<Echo>[]) {
        const shown = elided === 0 ? lines : lines.slice(0, 8);
        expect(shown).toEqual(numbered(100).slice(from_line - 1, from_line - 1 + shown.length));
        if (elided === 0) continue;
        const last = from_line - 1 + 16 + elided;
        expect(lines.slice(8)).toEqual(numbered(100).slice(last - 8, last));
      }
      expect(countLines(body)).toBe(100);
    }),
  );
});

test("each place of an op takes a step, since its line may be as long as the file", () => {
  const long = Buffer.from("a1b1c1d1".repeat(10));
  const sites = Array.from({ length: 8 }, (_, index) => ({
    index: index >> 1,
    from: 2 * index,
    to: 2 * index + 1,
  }));
  const steps = echoesOf(long, sites);
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBe(sites.length + 1);
});
