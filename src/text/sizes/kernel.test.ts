import { expect, test } from "bun:test";
import fc from "fast-check";
import { chunkBytes, kernelFor, simdKernel } from "./kernel.ts";
import { plainKernel } from "./plain-kernel.ts";

const kernels = [plainKernel(chunkBytes), simdKernel()!];

const likely = fc.constantFrom(0x0a, 0x0d, 0x22, 0x5c, 0x00, 0x08, 0x0b, 0x0e, 0x1f, 0x20, 0x7f, 0x80, 0xff);
const text = fc.array(fc.oneof(likely, fc.nat(255)), { maxLength: 100 });

test("each counts what is there, whatever lay in the chunk before", () => {
  fc.assert(
    fc.property(text, likely, (bytes, before) => {
      const all = Buffer.from([before, ...bytes]);
      const after = (first: number) => bytes.filter((byte, i) => byte === 0x0a && all[i] === first).length;
      const endings = bytes.filter((byte) => byte === 0x0a).length + 0x1_0000 * after(0x0d);
      // In UTF-8, every byte of Latin-1 above ASCII takes two, and JSON escapes none of them.
      const latin1 = Buffer.from(bytes).toString("latin1");
      const escapes = JSON.stringify(latin1).length - 2 - latin1.length;
      for (const kernel of kernels) {
        kernel.chunk.set(bytes);
        expect(kernel.countEndings(bytes.length, before)).toBe(endings);
        kernel.chunk.set(bytes);
        expect(kernel.countEscapes(bytes.length)).toBe(escapes);
      }
    }),
    { numRuns: 2000 },
  );
});

test("a whole chunk of line endings is counted, and of what takes the longest escape", () => {
  for (const kernel of kernels) {
    kernel.chunk.fill("\r\n");
    expect(kernel.countEndings(chunkBytes, 0)).toBe((chunkBytes / 2) * 0x1_0001);
    kernel.chunk.fill("\n");
    expect(kernel.countEndings(chunkBytes, 0)).toBe(chunkBytes);
    expect(kernel.countEscapes(chunkBytes)).toBe(chunkBytes);
    for (const control of [0x01, 0x1f]) {
      kernel.chunk.fill(control);
      expect(kernel.countEscapes(chunkBytes)).toBe(5 * chunkBytes);
    }
  }
});

test("many small texts are worth compiling for, as a large one is", () => {
  const last = Array.from({ length: 1000 }, () => kernelFor(1000)).at(-1);
  expect(last).toBe(kernelFor(10_000_000));
  expect(last?.chunk.buffer).not.toBe(kernels[0]!.chunk.buffer);
});
