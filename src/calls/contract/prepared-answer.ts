/** Answers whose handlers know more about them than their content. */

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
  readonly #read: (parsed: unknown) => T;
  #answer: T | undefined;

  /** Creates the answer. `read` builds it, with its keys in their usual order, from the parsed text. */
  constructor(text: string, bytes: number, read: (parsed: unknown) => T) {
    this.text = text;
    this.bytes = bytes;
    this.#read = read;
  }

  get answer(): T {
    this.#answer ??= this.#read(JSON.parse(this.text));
    return this.#answer;
  }

  /** Serializes the answer for senders that do not know this class. */
  toJSON(): T {
    return this.answer;
  }
}
