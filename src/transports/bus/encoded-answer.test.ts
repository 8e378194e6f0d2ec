import { describe, expect, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { EncodedAnswer } from "./encoded-answer.ts";

const text = JSON.stringify({ text: "é🙂\n".repeat(100_000) });
const bytes = Buffer.byteLength(text);
const encode = (parts: string[], expected = bytes) => runAtOnce(EncodedAnswer.encode(parts, expected));

describe.each([
  ["of the expected length", [text], bytes],
  ["in parts", [text.slice(0, 10), text.slice(10)], bytes],
  ["longer than expected", [text.slice(0, 10), text.slice(10)], 5],
  ["shorter than expected", [text], bytes + 1000],
])("an answer %s", (_, parts, expected) => {
  test("is in its frame", () => {
    const frame = encode(parts, expected).frame('{"function_id":"ü","result":');
    expect(frame.toString()).toBe(`{"function_id":"ü","result":${text}}`);
  });

  test("is in a frame with a long head", () => {
    const head = `{"function_id":"${"x".repeat(5000)}","result":`;
    expect(encode(parts, expected).frame(head).toString()).toBe(`${head}${text}}`);
  });
});

test("an encoded answer is parsed for the SDK, which keeps it until there is a connection", () => {
  expect(JSON.stringify(encode(['{"a":', '"é"}']))).toBe('{"a":"é"}');
});

test("a long answer is encoded in steps", () => {
  expect([...EncodedAnswer.encode(["é".repeat(1_000_000)], 2_000_000)].length).toBeGreaterThan(5);
});
