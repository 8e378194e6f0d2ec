import { expect, spyOn, test } from "bun:test";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { createCodec } from "./codec.ts";
import { EncodedText, encodeText } from "./encoded-text.ts";

test("the first character that an encoding lacks is found without trying each", () => {
  const { encode, ...codec } = createCodec("shift_jis");
  let encoded = 0;
  const counted = {
    ...codec,
    encode(text: string) {
      encoded++;
      return encode(text);
    },
  };
  const known = Array.from({ length: 83 }, (_, at) => String.fromCodePoint(0x3041 + at)).join("");
  const text = `${known.repeat(1000)}😀${known}🙂`;
  expect(() => runAtOnce(encodeText(counted, text))).toThrow("the encoding has no 😀");
  expect(encoded).toBeLessThan(100);
});

/** Bytes of Shift_JIS that decode to characters which the encoding writes with others. */
const otherForms = Buffer.from(Array.from({ length: 56 }, (_, at) => [0xed, 0x40 + at]).flat());

test("a character keeps its other form, unless the lines have both", () => {
  const usual = Buffer.from("\x82\xa0y\n", "latin1");
  const file = Buffer.concat([otherForms, Buffer.from("y\n"), ...Array.from({ length: 2000 }, () => usual)]);
  const opened = runAtOnce(EncodedText.decode(file, "shift_jis"));
  const edited = Buffer.from(opened.text.toString().replaceAll("y", "z"));
  const includes = spyOn(String.prototype, "includes");
  const written = runAtOnce(opened.bytesOf(edited));
  const calls = includes.mock.calls.length;
  includes.mockRestore();
  expect(written.toString("latin1")).toBe(file.toString("latin1").replaceAll("y", "z"));
  expect(calls).toBeLessThan(5 * 2000);
});

test("a long line is written in steps", () => {
  const file = Buffer.concat([otherForms, Buffer.alloc(2_000_000, "\x82\xa0y", "latin1"), Buffer.from("\n")]);
  const opened = runAtOnce(EncodedText.decode(file.subarray(0, -1), "shift_jis"));
  let steps = 0;
  for (const _ of opened.bytesOf(Buffer.concat([opened.text, Buffer.from("x")]))) steps++;
  expect(steps).toBeGreaterThan(20);
});

test.each(["あ", "あa", "¥a", "¥あ", "aあ¥", "¥~\\a", "ab"])(
  "%j in ISO-2022-JP is encoded in pieces as in the whole",
  (part) => {
    const codec = createCodec("iso-2022-jp");
    for (const start of ["", "x", "xy"]) {
      const text = start + part.repeat(Math.ceil(300_000 / part.length));
      const steps = encodeText(codec, text);
      let [count, step] = [1, steps.next()];
      for (; !step.done; step = steps.next()) count++;
      expect(Buffer.from(step.value as Uint8Array).equals(codec.encode(text))).toBe(true);
      expect(count).toBe(3);
    }
  },
);

test("a long line in ISO-2022-JP is decoded and edited in steps", () => {
  const codec = createCodec("iso-2022-jp");
  const text = `${"¥あa".repeat(100_000)}\nx\n`;
  const steps = EncodedText.decode(Buffer.from(codec.encode(text)), "iso-2022-jp");
  let [count, step] = [1, steps.next()];
  for (; !step.done; step = steps.next()) count++;
  expect(count).toBeGreaterThan(10);
  const edited = Buffer.from(text.replace("x", "い"));
  const written = runAtOnce((step.value as EncodedText).bytesOf(edited));
  expect(codec.decode(written)).toBe(edited.toString());
});
