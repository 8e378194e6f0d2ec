/** A transport of the worker that accepts clients. */
export interface Listener {
  /** Resolves when no client is left; over HTTP never. */
  readonly closed: Promise<void>;
  /**
   * Refuses new calls, finishes those under way (at most 5 s; 1 s for a client that left) and disconnects the
   * clients.
   */
  stop(): Promise<void>;
}

/**
 * Maximum bytes of one message to the server: twice those of one on the bus. There is room for 10 MiB of
 * text, the default of `max_write_bytes`, with every character beyond ASCII escaped.
 */
export const maxMessageBytes = 32 * 1024 * 1024;

/**
 * Maximum values, keys and punctuation marks together in a message that is parsed in slices. Valid requests
 * of the profile `agent` have fewer. Checking the fields of a larger object would take 50 ms.
 */
export const maxTokens = 150_000;
