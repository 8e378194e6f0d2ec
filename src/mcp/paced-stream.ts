/**
 * Lets the writer of streams of events wait until the client has taken what was written: the SDK writes into a queue, however
 * long that gets.
 */
export class PacedStream {
  /** Whether the client has taken everything, and waits for more. */
  #isTaken = false;
  readonly #waiting = new Set<() => void>();

  /** Resolves when the client has taken everything that was written; not before there is a stream. */
  ready(): Promise<void> {
    return this.#isTaken ? Promise.resolve() : new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** The response, whose body is the stream from now on. */
  through(response: Response): Response {
    if (response.body === null) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          this.#setTaken();
          const { done, value } = await reader.read();
          this.#isTaken = false;
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => {
          this.#isTaken = false;
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, response);
  }

  #setTaken(): void {
    this.#isTaken = true;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
