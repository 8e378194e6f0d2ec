import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeForAnswer } from "./json-text.ts";

function expectDecoded(bytes: Buffer): void {
  const text = bytes.toString();
  const isUtf8 = Buffer.from(text).equals(bytes);
  const jsonBytes = Buffer.byteLength(JSON.stringify(text));
  expect(decodeForAnswer(bytes)).toEqual({ text, isUtf8, jsonBytes });
}

test("any bytes are told, and as large as they are in JSON", () => {
  const likely = fc.constantFrom(
    "a",
    '"',
    "\\",
    "\n",
    "\r",
    "\t",
    "\0",
    "\x1f",
    "\x7f",
    "é",
    "\ufffd",
    "\ufeff",
    "🙂",
  );
  fc.assert(fc.property(fc.array(likely), (parts) => expectDecoded(Buffer.from(parts.join("")))));
  fc.assert(fc.property(fc.uint8Array(), (bytes) => expectDecoded(Buffer.from(bytes))));
});

test("long ones too, whose only other character may be anywhere", () => {
  const ascii = 'a "line"\t\u0001\n'.repeat(10_000);
  for (const text of [ascii, `é${ascii}`, `${ascii}é`, `${ascii}🙂${ascii}`])
    expectDecoded(Buffer.from(text));
  expectDecoded(Buffer.concat([Buffer.from(ascii), Buffer.of(0xff), Buffer.from(ascii)]));
});
