/**
 * Lets the writer of event streams wait until the client has read everything written. The SDK writes into a
 * queue of unbounded length.
 */
export class PacedStream {
  /** Whether the client has read everything, and waits for data. */
  #isTaken = false;
  readonly #waiting = new Set<() => void>();
  /** The reader of the newest stream, the only one that counts. */
  #newest: unknown;

  /** Resolves when the client has read everything that was written, but not before there is a stream. */
  ready(): Promise<void> {
    return this.#isTaken ? Promise.resolve() : new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Returns the response, and makes its body the current stream. */
  through(response: Response): Response {
    if (response.body === null) return response;
    const reader = response.body.getReader();
    this.#newest = reader;
    this.#isTaken = false;
    const note = (isTaken: boolean) => {
      if (this.#newest !== reader) return;
      this.#isTaken = isTaken;
      if (isTaken) this.#resolveWaiting();
    };
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          note(true);
          const { done, value } = await reader.read();
          note(false);
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => {
          note(false);
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, response);
  }

  #resolveWaiting(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
