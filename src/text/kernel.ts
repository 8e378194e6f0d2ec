/**
 * Counting bytes of a text, piece by piece. JavaScript looks at two bytes in a nanosecond, WebAssembly at sixteen and
 * more; it reaches its own memory alone, so the pieces lie there.
 */

import { assemble } from "../wasm/assembly.ts";
import { compileModule, instantiate } from "../wasm/module.ts";
import { type JsonKernel, plainKernel } from "./plain-kernel.ts";
import { textRoutines } from "./routines.ts";

/** Bytes of the longest piece: both counts of `countEndings` fit in one number, and it stays in the processor's cache. */
export const pieceBytes = 32 * 1024;

/** So many bytes are worth compiling WebAssembly for, once. */
const worthwhileBytes = 256 * 1024;

let asked = 0;
let fast: JsonKernel | undefined;
let plain: JsonKernel | undefined;

/** The best kernel for a text of so many bytes. */
export function kernelFor(bytes: number): JsonKernel {
  asked += bytes;
  if (asked < worthwhileBytes) {
    plain ??= plainKernel(pieceBytes);
    return plain;
  }
  fast ??= simdKernel() ?? plainKernel(pieceBytes);
  return fast;
}

const pieceStart = 16;

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  endings(at: number, end: number): number;
  escapes(at: number, end: number): number;
}

/** The kernel in WebAssembly; undefined where the machine has no SIMD in it. */
export function simdKernel(): JsonKernel | undefined {
  try {
    const exports = instantiate(compileModule(assemble(textRoutines(), 1)), {}) as Exports;
    const { memory, endings, escapes } = exports;
    const all = Buffer.from(memory.buffer);
    const piece = all.subarray(pieceStart, pieceStart + pieceBytes + 16);
    /** Sixteen bytes are looked at together: behind the end stands what does not count. */
    const close = (length: number) => {
      if (length % 16 !== 0) piece.fill(0x20, length, length + 16);
      return pieceStart + length;
    };
    return {
      piece,
      countEndings(length, before) {
        all[pieceStart - 1] = before;
        return endings(pieceStart, close(length));
      },
      countEscapes: (length) => escapes(pieceStart, close(length)),
    };
  } catch {
    return undefined;
  }
}
