/** The section of a WebAssembly module that declares its memory (core specification, section 5.5.8). */
const memorySection = 5;
const headerBytes = 8;

/** `wasm` with its one memory declared to grow to at most `pages` of 64 KiB: past that an allocation traps. */
export function limitMemory(wasm: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  for (let at = headerBytes; at < wasm.length; ) {
    const size = parseUnsigned(wasm, at + 1);
    const end = size.next + size.value;
    if (wasm[at] === memorySection)
      return splice(wasm, { from: at, to: end }, section(wasm, size.next, pages));
    at = end;
  }
  throw new Error("the module declares no memory");
}

/** One memory, with the least size that it had and `pages` as the most. */
function section(wasm: Uint8Array, body: number, pages: number): number[] {
  const least = parseUnsigned(wasm, body + 2).value;
  const limits = [1, 1, ...renderUnsigned(least), ...renderUnsigned(pages)];
  return [memorySection, ...renderUnsigned(limits.length), ...limits];
}

function splice(
  bytes: Uint8Array,
  cut: { from: number; to: number },
  insert: number[],
): Uint8Array<ArrayBuffer> {
  return Buffer.concat([bytes.subarray(0, cut.from), Uint8Array.from(insert), bytes.subarray(cut.to)]);
}

/** LEB128, unsigned, as in every size of the format. */
function parseUnsigned(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let i = at, shift = 0; ; i++, shift += 7) {
    const byte = bytes[i] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { value, next: i + 1 };
  }
}

function renderUnsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...renderUnsigned(value >>> 7)];
}
