import { Reader, renderUnsigned, rewriteSections, Section } from "../../base/wasm/binary.ts";

/** Returns `wasm` with a maximum of `pages` of 64 KiB for its one memory. An allocation past that traps. */
export function limitMemory(wasm: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  return rewriteSections(wasm, (id, contents) => {
    if (id !== Section.memory) return undefined;
    const reader = new Reader(contents, 2);
    return Uint8Array.from([1, 1, ...renderUnsigned(reader.unsigned()), ...renderUnsigned(pages)]);
  });
}
