import { describe, expect, spyOn, test } from "bun:test";
import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import {
  maxDepth,
  maxKeys,
  maxNumberLength,
  parseInSlices,
  parseJson,
  TooManyKeys,
  TooManyTokens,
  UnreadableJson,
} from "./parse-json.ts";

const parse = (json: string) => parseInSlices(Buffer.from(json));

/** Texts around the size of a step, with every kind of escape sequence, wherever a step ends. */
const text = fc
  .tuple(
    fc.array(fc.constantFrom("x", '"', "\\", "\n", "\u2028", "\ufeff", "é", "😀", "\ud83d", "\u0000"), {
      minLength: 1,
    }),
    fc.integer({ min: 1, max: 20_000 }),
    fc.nat(7),
  )
  .map(([units, length, shift]) => {
    const unit = units.join("");
    return "a".repeat(shift) + unit.repeat(Math.ceil(length / unit.length));
  });

/** Writes a value as JSON, which may be indented, and may escape all that is not ASCII. */
function write(value: unknown, { escapes, indent }: { escapes: boolean; indent: number }): string {
  const json = JSON.stringify(value, null, indent);
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return escapes ? json.replace(/[^\x20-\x7e\n]/g, escapeUnit) : json;
}

test("the value is that of JSON.parse", async () => {
  const value = fc.array(fc.oneof(text, fc.jsonValue(), fc.record({ content: text })));
  const form = fc.record({ escapes: fc.boolean(), indent: fc.nat(2) });
  await fc.assert(
    fc.asyncProperty(value, form, async (given, options) => {
      const json = write(given, options);
      expect(await parse(json)).toStrictEqual(JSON.parse(json));
    }),
    { numRuns: 200 },
  );
});

test.each([
  '{"a": "x", "a": "y"}',
  '{"__proto__": "x", "b": {"__proto__": {"c": "y"}}}',
  '{"2": "x", "b": {"10": [{}], "9": [[]]}, "1": []}',
  "[-0, 1e999, 0.1, 5e-324, 123456789012345678901234567890]",
  '["\\ud83d\\ude00", "\\ud83d", "\\ude00\\ud83d", "\ud83d\ude00"]',
])("%s", async (json) => {
  const parsed = await parse(json);
  expect(parsed).toStrictEqual(JSON.parse(json));
  expect(JSON.stringify(parsed)).toBe(JSON.stringify(JSON.parse(json)));
});

test("text in UTF-8 is kept, and any other is refused", async () => {
  const bytes = [0x61, 0x80, 0xbf, 0xc0, 0xc2, 0xe0, 0xa0, 0xed, 0xef, 0xbb, 0xf0, 0x90, 0xf4, 0xf5, 0xff];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...bytes), { maxLength: 6 }), async (given) => {
      const json = Buffer.from([0x22, ...given, 0x22]);
      const expected = isUtf8(json) ? JSON.parse(json.toString()) : "refused";
      expect(await parseInSlices(json).catch(() => "refused")).toBe(expected);
    }),
    { numRuns: 3000 },
  );
});

test("a byte order mark is kept where the parser decodes a piece", async () => {
  for (const length of [0, 1, 8191, 8192, 65_535, 65_536, 131_072]) {
    const value = `${"x".repeat(length)}\ufeff\ufeffé\n\ufeff`;
    expect(await parse(JSON.stringify([value, "\ufeff"]))).toEqual([value, "\ufeff"]);
  }
});

test("a text is parsed like its UTF-8", async () => {
  for (const length of [0, 131_068, 131_069, 131_070, 131_071]) {
    const value = ["x".repeat(length), "\ufeff", "😀\r\n".repeat(100_000)].join("");
    expect(await parseInSlices(JSON.stringify([value]))).toEqual([value]);
  }
  await expect(parseInSlices("[1,]")).rejects.toThrow();
  await expect(parseInSlices("")).rejects.toThrow();
});

/** Both parsers, each as a function that rejects. */
const parsers = [
  ["at once", async (json: string) => parseJson(json)],
  ["in slices", parse],
] as const;

describe.each(parsers)("parsing %s", (_, read) => {
  const nested = (levels: number) =>
    `${'[{"a":'.repeat(levels >> 1)}${"[]".repeat(levels % 2)}${levels % 2 === 0 ? 1 : ""}${"}]".repeat(levels >> 1)}`;

  test("refuses one level too many, whatever is in the strings", async () => {
    const json = `{"[[{\\"[": "]]]\\\\", "a": ${nested(maxDepth - 1)}, "b": ${nested(maxDepth - 1)}}`;
    expect(await read(json)).toEqual(JSON.parse(json));
    const refusal = expect.objectContaining({ fault: expect.stringContaining(`${maxDepth} levels`) });
    for (const levels of [maxDepth, maxDepth + 1, 100_000])
      expect(await read(`{"a": ${nested(levels)}}`).catch((error) => error)).toEqual(refusal);
  });

  test.each(["1", "-1", "0.1", "1e1", "1E+1", "-1.5e-1"])(
    "refuses a long number such as %s",
    async (start) => {
      const number = start.padEnd(maxNumberLength, "1");
      const json = `["${number}1", ${number}, {"a":${number}}]`;
      expect(await read(json)).toEqual(JSON.parse(json));
      for (const longer of [`${number}1`, number + "1".repeat(100_000)])
        for (const place of [longer, `[${longer}]`, `{"a": ${longer} }`])
          expect(await read(place).catch((error) => error)).toBeInstanceOf(UnreadableJson);
    },
  );

  test("accepts what JSON.parse accepts", async () => {
    const part = fc.constantFrom(
      ...'[]{},:"\\ud8e0 \n-.1+tfn'.split(""),
      "true",
      "null",
      '"a"',
      "1e5",
      '\\"',
      "\\ud83d",
      "\u0000",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
        const json = parts.join("");
        const expected = await Promise.try(JSON.parse, json).then(JSON.stringify, () => "refused");
        expect(await read(json).then(JSON.stringify, () => "refused")).toBe(expected);
      }),
      { numRuns: 3000 },
    );
  });
});

test("unpaired surrogates are collected in few pieces", async () => {
  const count = 300_000;
  for (const unit of ["\\ud800", "a\\udfff", "é\\ud83d", "\\ud83d\\ude00\\ude00", "\\n\\udc00\\u20ac"]) {
    const json = `["${unit.repeat(count / unit.length)}"]`;
    const joined = spyOn(TextDecoder.prototype, "decode");
    try {
      expect(await parse(json)).toEqual(JSON.parse(json));
      const empty = joined.mock.results.filter(({ value }) => value === "");
      expect(empty.length).toBeLessThan(10);
    } finally {
      joined.mockRestore();
    }
  }
});

test("tokens are counted", async () => {
  const list = Buffer.from(`[${"1,".repeat(9999)}1]`);
  expect(await parseInSlices(list, 20_001)).toHaveLength(10_000);
  await expect(parseInSlices(list, 20_000)).rejects.toBeInstanceOf(TooManyTokens);
});

test("the keys of each object are counted", async () => {
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":{"a":[]}`);
  const json = `[{${fields(maxKeys)}},{${fields(10)}}]`;
  expect(await parse(json)).toHaveLength(2);
  const inside = `[[{"a":{"b":1},${fields(maxKeys - 1)},"last":1}]]`;
  await expect(parse(inside)).rejects.toBeInstanceOf(TooManyKeys);
});

test("64 MiB are parsed at the same time, and the smallest that waits comes next", async () => {
  const mebibyte = 1024 * 1024;
  const order: string[] = [];
  const blank = (name: string, mebibytes: number, json = "[]") =>
    parse(json.padEnd(mebibytes * mebibyte))
      .catch(() => {})
      .then(() => order.push(name));
  const first = blank("first", 60, "]");
  const others = [blank("large", 50), blank("medium", 20), blank("small", 5), blank("beside", 4)];
  await Promise.all([first, ...others]);
  expect(order.indexOf("small")).toBeGreaterThan(order.indexOf("first"));
  expect(order.filter((name) => name !== "first" && name !== "beside")).toEqual(["small", "medium", "large"]);
  expect(await parse("[]".padEnd(65 * mebibyte))).toEqual([]);
});

test("other work goes on", async () => {
  const json = JSON.stringify({ content: "x\n".repeat(2_000_000) });
  let isParsed = false;
  let turns = 0;
  const count = () => {
    turns += 1;
    if (!isParsed) setImmediate(count);
  };
  setImmediate(count);
  await parse(json);
  isParsed = true;
  expect(turns).toBeGreaterThan(3);
});
