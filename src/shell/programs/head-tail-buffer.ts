import { HeadBuffer } from "./head-buffer.ts";

/** The first and the last bytes of a stream that may be endless. */
export class HeadTailBuffer {
  readonly #head: HeadBuffer;
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #shownBytes: number;
  #all = 0;
  #tail: Buffer[] = [];
  #held = 0;

  /**
   * Keeps at most `limit` bytes, half of them from the end, and shows at most `shown` bytes of a longer
   * stream.
   */
  constructor(limit: number, shown = limit) {
    this.#shownBytes = Math.min(shown, limit);
    this.#tailBytes = Math.floor(limit / 2);
    this.#headBytes = limit - this.#tailBytes;
    this.#head = new HeadBuffer(this.#headBytes);
  }

  /** Whether it has discarded bytes. */
  get truncated(): boolean {
    return this.#omitted > 0;
  }

  get #omitted(): number {
    return Math.max(0, this.#all - this.#headBytes - this.#tailBytes);
  }

  /** Keeps the bytes that fit, and the end of the others. Copies them. */
  add(chunk: Uint8Array): void {
    const room = Math.max(0, this.#headBytes - this.#all);
    this.#all += chunk.length;
    this.#head.add(chunk.subarray(0, room));
    this.#addToTail(chunk.subarray(room));
  }

  /** Appends a line, as the last bytes. */
  endWith(line: string): void {
    const isMidLine = this.#all > 0 && !this.render().endsWith("\n");
    this.add(Buffer.from(`${isMidLine ? "\n" : ""}${line}\n`));
  }

  /**
   * Decodes the kept bytes like `HeadBuffer`, with a line in the gap that says how many bytes are left out.
   * Only a line that fills its half is cut.
   */
  render(): string {
    const kept = Buffer.concat(this.#tail).subarray(-this.#tailBytes || this.#held);
    if (!this.truncated) return decode(Buffer.concat([this.#head.bytes(), kept]));
    const tailBytes = Math.floor(this.#shownBytes / 2);
    const head = upToLineEnd(this.#head.bytes().subarray(0, this.#shownBytes - tailBytes));
    const tail = fromLineStart(kept.subarray(Math.max(0, kept.length - tailBytes)));
    const omitted = this.#all - head.length - tail.length;
    const gap = `${head.at(-1) === newline ? "" : "\n"}[${omitted} bytes left out]\n`;
    return decode(head) + gap + decode(tail);
  }

  #addToTail(chunk: Uint8Array): void {
    if (chunk.length === 0 || this.#tailBytes === 0) return;
    const kept = Buffer.from(chunk.subarray(-this.#tailBytes));
    this.#tail.push(kept);
    this.#held += kept.length;
    while (this.#held - this.#tail[0]!.length >= this.#tailBytes) this.#held -= this.#tail.shift()!.length;
  }
}

const newline = 0x0a;

/** Returns the whole lines at the beginning of `bytes`, or all of `bytes` if no line ends in it. */
const upToLineEnd = (bytes: Uint8Array): Uint8Array =>
  bytes.subarray(0, bytes.lastIndexOf(newline) + 1 || undefined);

/**
 * Returns the lines that begin in `bytes`, including an unfinished last one, or all of `bytes` if no line
 * begins in it.
 */
function fromLineStart(bytes: Uint8Array): Uint8Array {
  const start = bytes.indexOf(newline) + 1;
  return start === bytes.length ? bytes : bytes.subarray(start);
}

const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
