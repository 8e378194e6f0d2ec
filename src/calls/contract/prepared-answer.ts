/** Answers whose handlers know more about them than their content. */
import { beginAtOnce, runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";

/** An answer with the size of its JSON, known to its handler. */
export class Measured<T> {
  readonly answer: T;
  readonly bytes: number;

  constructor(answer: T, bytes: number) {
    this.answer = answer;
    this.bytes = bytes;
  }
}

/**
 * An answer whose JSON was written by its handler, because it has very many parts, which would take longer to
 * make and render than to find. It is parsed only if something needs the answer itself.
 */
export class WrittenAnswer<T> {
  /** The JSON, with sorted keys and without spaces, which the engine forwards unchanged. */
  readonly text: string;
  /** The length of the text in UTF-8. */
  readonly bytes: number;
  readonly #parse: (text: string) => Steps<T>;
  #answer: T | undefined;

  /** Creates the answer. `parse` builds it, with its keys in their usual order, from the text. */
  constructor(text: string, bytes: number, parse: (text: string) => Steps<T>) {
    this.text = text;
    this.bytes = bytes;
    this.#parse = parse;
  }

  get answer(): T {
    this.#answer ??= runAtOnce(this.#parse(this.text));
    return this.#answer;
  }

  /** Parses the answer in slices, after which `answer` is at hand. */
  async parse(): Promise<void> {
    this.#answer ??= await beginAtOnce(this.#parse(this.text));
  }

  /** Serializes the answer for senders that do not know this class. */
  toJSON(): T {
    return this.answer;
  }
}
