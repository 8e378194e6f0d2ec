/**
 * Counts bytes of a text, chunk by chunk. JavaScript reads two bytes in a nanosecond, WebAssembly sixteen and
 * more. It reaches only its own memory, so the chunks lie there.
 */

import { assemble } from "../../base/wasm/assembly.ts";
import { compileModule, instantiate } from "../../base/wasm/module.ts";
import { type JsonKernel, plainKernel } from "./plain-kernel.ts";
import { textRoutines } from "./routines.ts";

/**
 * Maximum bytes of a chunk. Both counts of `countEndings` fit into one number, and the chunk into the
 * processor's cache.
 */
export const chunkBytes = 32 * 1024;

/** Total size of texts, in bytes, that repays the compilation of the routines. */
const compileThreshold = 256 * 1024;

let bytesSoFar = 0;
let simd: JsonKernel | undefined;
let plain: JsonKernel | undefined;

/** Returns the fastest kernel for a text of `bytes` bytes. */
export function kernelFor(bytes: number): JsonKernel {
  bytesSoFar += bytes;
  if (bytesSoFar < compileThreshold) {
    plain ??= plainKernel(chunkBytes);
    return plain;
  }
  simd ??= simdKernel() ?? plainKernel(chunkBytes);
  return simd;
}

const chunkStart = 16;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  endings(at: number, end: number): number;
  escapes(at: number, end: number): number;
}

/** Creates the kernel in WebAssembly. Returns `undefined` if the machine lacks SIMD there. */
export function simdKernel(): JsonKernel | undefined {
  try {
    const exports = instantiate(compileModule(assemble(textRoutines(), 1)), {}) as Exports;
    const { memory, endings, escapes } = exports;
    const all = Buffer.from(memory.buffer);
    const chunk = all.subarray(chunkStart, chunkStart + chunkBytes + 16);
    /** Pads the last sixteen bytes with blanks, which do not count, and returns their end. */
    const pad = (length: number) => {
      if (length % 16 !== 0) chunk.fill(0x20, length, length + 16);
      return chunkStart + length;
    };
    return {
      chunk,
      countEndings(length, before) {
        all[chunkStart - 1] = before;
        return endings(chunkStart, pad(length));
      },
      countEscapes: (length) => escapes(chunkStart, pad(length)),
    };
  } catch {
    return undefined;
  }
}
