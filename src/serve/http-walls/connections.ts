/**
 * Bounds connections. Unauthenticated ones are closed first, so that they cannot block clients with the
 * token.
 */

/** Maximum numbers of connections at the same time. */
export interface ConnectionLimits {
  /** Maximum connections of all peers. */
  readonly total: number;
  /** Maximum connections of one peer, by its address, without an authorized request so far. */
  readonly unauthenticatedOfPeer: number;
  /** Maximum unanswered requests on one connection. */
  readonly unanswered: number;
}

/** The part of a `node:net` socket that is used here. */
export interface Connection {
  readonly remoteAddress?: string | undefined;
  destroy(): unknown;
  once(event: "close", listener: () => void): unknown;
}

/**
 * Bounds the connections of a server. A connection beyond a limit closes the oldest unauthenticated one: a
 * client that sends its headers at once is soon authenticated, and one that sends half of them becomes the
 * oldest. Without such a connection, the new one is closed.
 */
export class Connections {
  /** Called with each closed connection and the limit that it exceeded. */
  onclosed: (connection: Connection, reason: string) => void = () => {};
  /** The unauthenticated connections in the order of arrival, with the address of the peer. */
  readonly #unauthenticated = new Map<Connection, string>();
  readonly #authenticated = new Set<Connection>();
  readonly #unanswered = new WeakMap<Connection, number>();
  readonly #limits: ConnectionLimits;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Adds a new connection, and closes the one that exceeds a limit. */
  open(connection: Connection): void {
    const peer = connection.remoteAddress ?? "";
    this.#unauthenticated.set(connection, peer);
    connection.once("close", () => this.#forget(connection));
    const ofPeer = [...this.#unauthenticated].filter(([, address]) => address === peer);
    const { total, unauthenticatedOfPeer } = this.#limits;
    if (ofPeer.length > unauthenticatedOfPeer)
      this.#close(
        ofPeer[0]?.[0],
        `One peer may have ${unauthenticatedOfPeer} connections without an authorized request.`,
      );
    const open = this.#unauthenticated.size + this.#authenticated.size;
    if (open > total)
      this.#close(
        [...this.#unauthenticated.keys()][0],
        `All ${total} connections are in use, ${this.#authenticated.size} of them by authorized clients.`,
      );
  }

  /** Marks a connection as authenticated, after an authorized request. */
  admit(connection: Connection): void {
    if (this.#unauthenticated.delete(connection)) this.#authenticated.add(connection);
  }

  /**
   * Counts a request until its answer is closed. Returns false, and closes the connection, if too many are
   * unanswered: thousands can come in one packet, which the runtime reads in one turn of the event loop.
   */
  begin(connection: Connection, answer: Pick<Connection, "once">): boolean {
    const { unanswered: most } = this.#limits;
    const unanswered = this.#unanswered.get(connection) ?? 0;
    if (unanswered === most) {
      this.#close(connection, `A connection may have ${most} unanswered requests.`);
      return false;
    }
    this.#unanswered.set(connection, unanswered + 1);
    answer.once("close", () => this.#unanswered.set(connection, this.#unanswered.get(connection)! - 1));
    return true;
  }

  #close(connection: Connection | undefined, reason: string): void {
    if (connection === undefined) return;
    this.#forget(connection);
    this.onclosed(connection, reason);
    connection.destroy();
  }

  #forget(connection: Connection): void {
    this.#unauthenticated.delete(connection);
    this.#authenticated.delete(connection);
  }
}
