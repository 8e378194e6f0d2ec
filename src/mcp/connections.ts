/** Which connections are held. A stranger's cost a token's holder nothing: his are closed first. */

/** Most connections at once. */
export interface ConnectionLimits {
  /** In all. */
  readonly total: number;
  /** Of one peer, by its address, from which no request has been let in yet. */
  readonly strangersOfPeer: number;
}

/** What is used of a socket of `node:net`. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

/**
 * Bounds the connections of a server. One more than a limit closes the oldest stranger: a client that sends its headers
 * at once is no stranger for long, and one who sends half of them waits until he is the oldest. Where there is none,
 * the new connection is closed.
 */
export class Connections {
  /** In the order of arrival, with the address of the peer. */
  readonly #strangers = new Map<Connection, string>();
  readonly #known = new Set<Connection>();
  readonly #limits: ConnectionLimits;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Takes in a connection that has just been made, and closes what is too much. */
  open(connection: Connection): void {
    const peer = connection.remoteAddress ?? "";
    this.#strangers.set(connection, peer);
    connection.once("close", () => this.#forget(connection));
    const ofPeer = [...this.#strangers].filter(([, address]) => address === peer);
    if (ofPeer.length > this.#limits.strangersOfPeer) this.#close(ofPeer[0]?.[0]);
    if (this.#strangers.size + this.#known.size > this.#limits.total)
      this.#close([...this.#strangers.keys()][0]);
  }

  /** A request of this connection has been let in. */
  admit(connection: Connection): void {
    if (this.#strangers.delete(connection)) this.#known.add(connection);
  }

  #close(connection: Connection | undefined): void {
    if (connection === undefined) return;
    this.#forget(connection);
    connection.destroy();
  }

  #forget(connection: Connection): void {
    this.#strangers.delete(connection);
    this.#known.delete(connection);
  }
}
