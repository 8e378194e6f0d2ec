import { isAscii } from "node:buffer";

/** Tests parts of one text. Most texts are ASCII as a whole: the whole is tested once. */
export class AsciiCheck {
  #length = 0;
  /** Undefined until asked. */
  #isWhole: boolean | undefined;

  /** Starts on `text[0, length)`. */
  prepare(length: number): void {
    this.#length = length;
    this.#isWhole = undefined;
  }

  isAsciiIn(text: Buffer, start: number, end: number): boolean {
    this.#isWhole ??= isAscii(text.subarray(0, this.#length));
    return this.#isWhole || isAscii(text.subarray(start, end));
  }
}
