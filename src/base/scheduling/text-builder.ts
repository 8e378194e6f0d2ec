/**
 * Collects a string of JSON for the parser, in pieces of 64 KiB. The parser's own builder drops a byte order
 * mark at the beginning of each piece, and makes a piece of each unpaired surrogate: joining millions of them
 * holds the event loop for half a second.
 */
export class TextBuilder {
  /** The bytes of the string, except unpaired surrogates. The parser adds them to its offset. */
  byteLength = 0;
  #text = "";
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #bytes = Buffer.alloc(pieceBytes);
  #end = 0;
  /** Whether the rest of the string is collected in UTF-16, since UTF-8 has no unpaired surrogates. */
  #isUtf16 = false;

  appendChar(byte: number): void {
    this.byteLength++;
    if (this.#end === pieceBytes) this.#flush();
    this.#bytes[this.#end++] = byte;
    // The second byte of the unit.
    if (this.#isUtf16) this.#bytes[this.#end++] = 0;
  }

  /** Appends whole characters in UTF-8, fewer bytes than half of a piece. */
  appendBuf(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.byteLength += to - from;
    const utf8 = bytes.subarray(from, to);
    const added = this.#isUtf16 ? Buffer.from(this.#decoder.decode(utf8), "utf16le") : utf8;
    if (this.#end + added.length > pieceBytes) this.#flush();
    this.#bytes.set(added, this.#end);
    this.#end += added.length;
  }

  /** Appends a unit that UTF-8 cannot represent: an unpaired surrogate. */
  appendCharCode(unit: number): void {
    if (!this.#isUtf16 || this.#end === pieceBytes) this.#flush();
    this.#isUtf16 = true;
    this.#bytes[this.#end++] = unit & 0xff;
    this.#bytes[this.#end++] = unit >> 8;
  }

  reset(): void {
    this.#text = "";
    this.#end = 0;
    this.byteLength = 0;
    this.#isUtf16 = false;
  }

  toString(): string {
    this.#flush();
    return this.#text;
  }

  #flush(): void {
    const piece = this.#bytes.subarray(0, this.#end);
    this.#text += this.#isUtf16 ? piece.toString("utf16le") : this.#decoder.decode(piece);
    this.#end = 0;
  }
}

/** Bytes of a piece: an even number, since a unit of UTF-16 has two. */
const pieceBytes = 64 * 1024;
