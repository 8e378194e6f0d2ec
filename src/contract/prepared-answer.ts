/** Answers of which their handlers know more than what is in them. */

/** An answer from a handler that knows already how many bytes its JSON has. */
export class Measured<T> {
  readonly answer: T;
  readonly bytes: number;

  constructor(answer: T, bytes: number) {
    this.answer = answer;
    this.bytes = bytes;
  }
}

/**
 * An answer of whose JSON its handler has written the text: of very many parts, which would take longer to make and to
 * render than to find. Who needs the answer itself parses it.
 */
export class WrittenAnswer<T> {
  /** The JSON, with sorted keys and without spaces, as the engine sends it on. */
  readonly text: string;
  /** Its length in UTF-8. */
  readonly bytes: number;
  readonly #read: (parsed: unknown) => T;
  #answer: T | undefined;

  /** `read` makes the answer, with its keys in their usual order, of what the text parses as. */
  constructor(text: string, bytes: number, read: (parsed: unknown) => T) {
    this.text = text;
    this.bytes = bytes;
    this.#read = read;
  }

  get answer(): T {
    this.#answer ??= this.#read(JSON.parse(this.text));
    return this.#answer;
  }

  /** For senders that know nothing of it. */
  toJSON(): T {
    return this.answer;
  }
}
