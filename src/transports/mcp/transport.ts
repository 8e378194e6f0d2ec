/** A transport of the worker that accepts clients. */
export interface Listener {
  /** Resolves when the last client has left. Never resolves over HTTP. */
  readonly closed: Promise<void>;
  /**
   * Refuses new calls, finishes those under way, and disconnects the clients. Gives up after 5 s without the
   * end of a call, or 1 s if the client has left.
   */
  stop(): Promise<void>;
}

/**
 * Maximum bytes of one message to the server: twice those of one on the bus. There is room for 10 MiB of
 * text, the default of `max_write_bytes`, with every character beyond ASCII escaped.
 */
export const maxMessageBytes = 32 * 1024 * 1024;
