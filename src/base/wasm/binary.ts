/** Reads and writes the binary format of WebAssembly (WebAssembly Core Specification, section 5). */

/** The ids of the sections that this project reads or changes. */
export const Section = { import: 2, memory: 5, global: 6, code: 10 } as const;

const headerBytes = 8;

/** Reads a binary from `at` on. */
export class Reader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.bytes[this.at++] ?? 0;
  }

  /** Reads an unsigned LEB128 number, as in every size of the format. */
  unsigned(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  /** Skips `count` numbers in LEB128, of whatever sign and size. */
  skipNumbers(count: number): void {
    for (let left = count; left > 0; ) if (this.byte() < 0x80) left--;
  }

  name(): string {
    const length = this.unsigned();
    this.at += length;
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString();
  }
}

/** Renders an unsigned LEB128 number. */
export function renderUnsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...renderUnsigned(value >>> 7)];
}

/** Renders a signed LEB128 number. */
export function renderSigned(value: number): number[] {
  return value >= -0x40 && value < 0x40
    ? [value & 0x7f]
    : [(value & 0x7f) | 0x80, ...renderSigned(value >> 7)];
}

/** Returns the parts, preceded by their total length. */
export function sized(...parts: Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Uint8Array.from(renderUnsigned(length)), ...parts]);
}

/**
 * Replaces the contents of each section by the result of `change`, or keeps the section if that is
 * `undefined`.
 */
export function rewriteSections(
  wasm: Uint8Array,
  change: (id: number, contents: Uint8Array) => Uint8Array | undefined,
): Uint8Array<ArrayBuffer> {
  const pieces = [wasm.subarray(0, headerBytes)];
  const reader = new Reader(wasm, headerBytes);
  while (reader.at < wasm.length) {
    const start = reader.at;
    const id = reader.byte();
    const length = reader.unsigned();
    reader.at += length;
    const changed = change(id, wasm.subarray(reader.at - length, reader.at));
    if (changed === undefined) pieces.push(wasm.subarray(start, reader.at));
    else pieces.push(Uint8Array.of(id), sized(changed));
  }
  return Buffer.concat(pieces);
}
