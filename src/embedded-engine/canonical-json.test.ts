import { describe, expect, test } from "bun:test";
import { array, assert, dictionary, integer, json, oneof, property, string } from "fast-check";
import { CanonicalJson, endOfCanonical } from "./canonical-json.ts";
import { type Frame, type Json, parseFrame, renderFrame, sortFrameKeys } from "./frames.ts";

const rendered = (text: string): string => JSON.stringify(sortFrameKeys(JSON.parse(text) as Json));

/** Returns the end of the value in `text`, when more text follows. */
const endIn = (text: string): number => endOfCanonical(`${text},`, 0);

describe("canonical", () => {
  test.each([
    ...["{}", "[]", '""', "0", "-1", "true", "false", "null", "123456789012345"],
    ...[
      '{"a":1,"aa":2,"b":{"a":[],"c":{}},"é":[1,"",{}]}',
      '{"":1," ":2,"!":3}',
      '{"A":1,"_":2,"a":3,"😀":4}',
    ],
    ...['"\\"\\\\\\b\\f\\n\\r\\t"', '"é😀\u2028\u007f"', '[{"__proto__":{"__proto__":[]}}]'],
  ])("%s", (text) => {
    expect(endIn(text)).toBe(text.length);
    expect(rendered(text)).toBe(text);
  });

  test.each([
    ...[
      '{"b":1,"a":2}',
      '{"aa":1,"a":2}',
      '{"a":1,"a":2}',
      '{"2":1,"10":2}',
      '{"\\u0061":1}',
      '{"a":{"c":1,"b":2}}',
    ],
    ...[
      "{ }",
      "[1, 2]",
      '{"a": 1}',
      " 1",
      "[1,]",
      "[,1]",
      '{"a":1,}',
      "{,}",
      '{"a"}',
      '{"a":}',
      "{1:2}",
      "[1",
      '{"a":1',
    ],
    ...[
      "-0",
      "00",
      "01",
      "-",
      "1.0",
      "1e3",
      "1234567890123456",
      "+1",
      "NaN",
      "tru",
      "nul",
      "fals",
      "undefined",
      "",
    ],
    ...['"\\u0041"', '"\\/"', '"\\x"', '"\n"', '"\u0000"', '"', '"\\"', '"\\', "'a'"],
  ])("not %s", (text) => {
    expect(endIn(text)).not.toBe(text.length);
  });

  test("never what would be rendered otherwise", () => {
    const spaced = json({ maxDepth: 4 }).map((text) =>
      JSON.stringify(JSON.parse(text), null, text.length % 2),
    );
    assert(
      property(oneof(json({ maxDepth: 4 }), spaced), (text) => {
        if (endIn(text) === text.length) expect(rendered(text)).toBe(text);
      }),
    );
  });

  test("always what is rendered of texts without control characters, of integers and of keys that are no numbers", () => {
    const text = string({ unit: "grapheme" });
    const keys = text.filter((key) => !/^\d|["\\]/.test(key));
    const value = dictionary(keys, oneof(text, integer(), array(dictionary(keys, text))));
    assert(
      property(value, (value) => {
        const text = JSON.stringify(sortFrameKeys(value as Json));
        expect(endIn(text)).toBe(text.length);
      }),
    );
  });

  test("with 127 levels, of which the first is given", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect([endOfCanonical(nested(127), 0), endOfCanonical(nested(128), 0)]).toEqual([254, -1]);
    expect([endOfCanonical(nested(126), 0, 2), endOfCanonical(nested(127), 0, 2)]).toEqual([252, -1]);
    expect(endOfCanonical(nested(200_000), 0)).toBe(-1);
  });
});

describe("the result of a frame", () => {
  const id = "0b7bb3a8-2f6f-4d6e-9a55-0d8a1f9f2d11";
  const head = `"type":"invocationresult","invocation_id":"${id}","function_id":"f"`;
  const large = JSON.stringify({ a: ["x".repeat(5000)], b: { c: 1 } });
  const taken = (text: string): Frame & { readonly result?: unknown } => parseFrame(text).frame as never;

  test("is taken as it is where it is large and canonical", () => {
    const frame = taken(`{${head},"result":${large},"traceparent":"t"}`);
    expect(frame.result).toEqual(new CanonicalJson(large));
    expect(renderFrame(frame)).toBe(`{${head},"result":${large},"traceparent":"t"}`);
  });

  test.each([
    ["small", `{${head},"result":{"a":1}}`, { a: 1 }],
    ["not sorted", `{${head},"result":{"b":1,"a":${large}}}`, { a: JSON.parse(large), b: 1 }],
    ["first in its frame", `{"result":${large},${head}}`, JSON.parse(large)],
    ["behind an object", `{"x":{},${head},"result":${large}}`, JSON.parse(large)],
  ])("is parsed where it is %s", (_, text: string, result: unknown) => {
    expect(taken(text).result).toEqual(result);
  });

  test.each([
    ["a key twice", `{${head},"result":${large},"result":1}`],
    ["not JSON", `{${head},"result":${large}x}`],
    ["not JSON", `{${head},"x":","result":${large}}`],
    ["an unpaired surrogate", `{${head},"result":${large},"x":"\\ud83d"}`],
    [
      "invocationresult without function_id",
      `{"type":"invocationresult","invocation_id":"${id}","result":${large}}`,
    ],
    [
      "nested deeper than 127 levels",
      `{${head},"result":{"a":${large},"b":${"[".repeat(126)}${"]".repeat(126)}}}`,
    ],
  ])("does not hide %s", (fault, text) => {
    expect(parseFrame(text)).toEqual({ fault });
  });

  test("of another frame is none", () => {
    const text = `{"type":"invokefunction","function_id":"f","data":1,"result":${large}}`;
    expect(parseFrame(text)).toEqual({ frame: { type: "invokefunction", function_id: "f", data: 1 } });
  });
});
