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
 * Maximum bytes of one message to the server: a file of `max_write_bytes` with each character escaped, and
 * more.
 */
export const maxMessageBytes = 64 * 1024 * 1024;
