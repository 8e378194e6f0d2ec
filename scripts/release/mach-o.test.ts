import { expect, test } from "bun:test";
import { faultOfSignature, readSignature, signAdHoc } from "./mach-o.ts";

const codeBytes = 3 * 4096 + 100;

/** Returns a Mach-O file with a page of load commands and some code, and 16 bytes in place of a signature. */
function unsigned(): Buffer {
  const file = Buffer.alloc(codeBytes + 16, "code");
  file.fill(0, 0, 512);
  file.writeUInt32LE(0xfeedfacf, 0);
  file.writeUInt32LE(0x01000007, 4);
  file.writeUInt32LE(3, 16);
  const segments = [
    ["__TEXT", 0, 8192],
    ["__LINKEDIT", 8192, codeBytes + 16 - 8192],
  ] as const;
  for (const [index, [name, offset, bytes]] of segments.entries()) {
    const at = 32 + 72 * index;
    file.writeUInt32LE(0x19, at);
    file.writeUInt32LE(72, at + 4);
    file.write(name, at + 8);
    file.writeBigUInt64LE(BigInt(offset), at + 40);
    file.writeBigUInt64LE(BigInt(bytes), at + 48);
  }
  for (const [index, word] of [0x1d, 16, codeBytes, 16].entries()) file.writeUInt32LE(word, 176 + 4 * index);
  return file;
}

test("a signed file is found to be sound", () => {
  const signed = signAdHoc(unsigned(), "coder");
  const signature = readSignature(signed);
  expect(signature).toEqual({
    identifier: "coder",
    isAdHoc: true,
    covers: codeBytes,
    startsAt: codeBytes,
    endsFile: true,
    pages: 4,
    brokenPages: 0,
  });
  expect(faultOfSignature(signature)).toBeUndefined();
});

test("the segment that the signature is in goes to the end of the file", () => {
  const signed = signAdHoc(unsigned(), "coder");
  const [memory, offset, bytes] = [136, 144, 152].map((at) => Number(signed.readBigUInt64LE(at)));
  expect((offset ?? 0) + (bytes ?? 0)).toBe(signed.length);
  expect(memory).toBe(Math.ceil((bytes ?? 0) / 4096) * 4096);
});

test("signing again changes nothing", () => {
  const signed = signAdHoc(unsigned(), "coder");
  expect(signAdHoc(signed, "coder").equals(signed)).toBe(true);
});

test.each([0, 300, 4096, codeBytes - 1])("a change of byte %d breaks one page", (at) => {
  const signed = signAdHoc(unsigned(), "coder");
  // The first bytes identify the file type, so a flag of the header is changed instead.
  const changed = at === 0 ? 24 : at;
  signed[changed] = (signed[changed] ?? 0) ^ 1;
  expect(faultOfSignature(readSignature(signed))).toBe("1 of 4 pages are not the signed ones");
});

test("bytes that are not covered, or that follow, are a fault", () => {
  const signature = readSignature(signAdHoc(unsigned(), "coder"));
  expect(faultOfSignature({ ...signature, covers: 8192 })).toBe(`it covers 8192 of ${codeBytes} bytes`);
  const longer = Buffer.concat([signAdHoc(unsigned(), "coder"), Buffer.from("more")]);
  expect(faultOfSignature(readSignature(longer))).toBe("the file does not end with it");
});

test("what is no Mach-O file, or has no signature, is refused", () => {
  expect(() => readSignature(Buffer.from("#!/bin/sh\n"))).toThrow("not a 64-bit Mach-O file");
  expect(() => readSignature(unsigned())).toThrow("what should be its signature is none");
});
