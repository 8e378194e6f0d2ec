import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";

/** Bytes kept free before an answer for the beginning of its frame. */
const headRoom = 4096;

const end = Buffer.from("}");

/** The JSON of an answer in UTF-8, with room for the frame around it. */
export class EncodedAnswer {
  #buffer: Buffer;
  #end = headRoom;

  private constructor(bytes: number) {
    this.#buffer = Buffer.allocUnsafe(headRoom + bytes + end.length);
  }

  /**
   * Encodes the parts of the JSON in steps; in one, characters beyond ASCII take up to 5 ms per MB. `bytes`
   * is their expected length.
   */
  static *encode(parts: Iterable<string>, bytes: number): Steps<EncodedAnswer> {
    const answer = new EncodedAnswer(bytes);
    for (const part of parts)
      for (const piece of piecesOf(part)) {
        // Faster than writing the characters into the buffer, on Bun.
        answer.#add(Buffer.from(piece));
        yield;
      }
    return answer;
  }

  #add(bytes: Buffer): void {
    const needed = this.#end + bytes.length + end.length;
    if (needed > this.#buffer.length)
      this.#buffer = Buffer.concat([this.#buffer.subarray(0, this.#end), Buffer.allocUnsafe(needed)]);
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Returns the frame that begins with `head` and ends with the answer. */
  frame(head: string): Buffer {
    const bytes = Buffer.from(head);
    this.#buffer.set(end, this.#end);
    const after = this.#end + end.length;
    if (bytes.length > headRoom) return Buffer.concat([bytes, this.#buffer.subarray(headRoom, after)]);
    this.#buffer.set(bytes, headRoom - bytes.length);
    return this.#buffer.subarray(headRoom - bytes.length, after);
  }

  /** Returns the answer itself, for the SDK, which keeps it until there is a connection. */
  toJSON(): unknown {
    return JSON.parse(this.#buffer.toString("utf8", headRoom, this.#end));
  }
}
