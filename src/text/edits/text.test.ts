import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cutToBytes, decodeUtf8 } from "./text.ts";

/** Bytes that easily form both characters and broken ones. */
const bytes = fc
  .array(
    fc.constantFrom(
      0x41,
      0x80,
      0x82,
      0x98,
      0x9f,
      0xa9,
      0xac,
      0xbb,
      0xbf,
      0xc0,
      0xc3,
      0xe2,
      0xed,
      0xef,
      0xf0,
      0xf5,
      0xff,
    ),
    {
      maxLength: 24,
    },
  )
  .map((list) => Buffer.from(list));

const cases = fc.oneof(
  bytes,
  fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
);

describe("decodeUtf8", () => {
  test.each([
    ["\xef\xbb\xbfa", "\ufeffa", true],
    ["\xf0\x9f\x98\x80", "😀", true],
    ["a\0b", "a\0b", true],
    ["\xff", "\ufffd", false],
    ["\xf0\x9f\x98a", "\ufffda", false],
    ["\xe2\x82", "\ufffd", false],
    ["\xed\xa0\x80", "\ufffd\ufffd\ufffd", false],
    ["\xc0\x80", "\ufffd\ufffd", false],
  ])("%j", (raw, text, isUtf8) => {
    expect(decodeUtf8(Buffer.from(raw, "latin1"))).toEqual({ text, isUtf8 });
  });

  test("decodes as the Encoding Standard does, and knows whether it could", () => {
    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
    fc.assert(
      fc.property(cases, (body) => {
        const { text, isUtf8 } = decodeUtf8(body);
        expect(text).toBe(lenient.decode(body));
        if (isUtf8) expect(strict.decode(body)).toBe(text);
        else expect(() => strict.decode(body)).toThrow();
      }),
    );
  });
});

describe("cutToBytes", () => {
  test.each([
    ["abc", 3, "abc"],
    ["abc", 2, "ab"],
    ["abc", 0, ""],
    ["", 0, ""],
    ["é", 1, ""],
    ["aé", 2, "a"],
    ["a😀b", 4, "a"],
    ["a😀b", 5, "a😀"],
    ["\ufeffa", 3, "\ufeff"],
  ])("%j to %i bytes", (text, maxBytes, cut) => {
    expect(cutToBytes(Buffer.from(text), maxBytes)).toBe(cut);
  });

  test("gives the longest start of the text, in whole characters, that fits", () => {
    fc.assert(
      fc.property(cases, fc.nat(30), (body, maxBytes) => {
        const cut = cutToBytes(body, maxBytes);
        const { text } = decodeUtf8(body);
        expect(text.startsWith(cut)).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
        const [next = ""] = text.slice(cut.length);
        expect(next === "" || Buffer.byteLength(cut + next) > maxBytes).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
