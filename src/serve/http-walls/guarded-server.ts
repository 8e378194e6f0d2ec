/** A server over HTTP that refuses requests, and closes connections, before they can cost anything. */
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Log } from "../../base/log/log.ts";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { RefusalLog } from "./refusal-log.ts";

export interface ServerLimits {
  readonly connections: ConnectionLimits;
  /** The milliseconds within which the headers of a request, and the whole request, have to arrive. */
  readonly headersMilliseconds: number;
  readonly requestMilliseconds: number;
  /** The interval of that check. */
  readonly checkMilliseconds: number;
}

export const defaultServerLimits: ServerLimits = {
  connections: { total: 256, unauthenticatedOfPeer: 32, unanswered: 100 },
  headersMilliseconds: 5000,
  requestMilliseconds: 60_000,
  checkMilliseconds: 1000,
};

/** A request, and the means to answer it. */
export interface Exchanged {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The path of the request, without its query. */
  readonly path: string;
  /** Marks the connection as one of an authorized client, which is closed last. */
  admit(): void;
  /** Refuses the request and logs that, without reading its body. */
  refuse(status: number, sentence: string): void;
  /** Logs that the request could not be answered, without anything that its client has sent. */
  fail(error: NodeJS.ErrnoException): void;
}

export interface GuardedServerOptions {
  readonly limits: ServerLimits;
  readonly log: Log;
  /** Answers a request, after it has checked its credentials. */
  answer(exchanged: Exchanged): void;
  /** Sends a refusal and closes the connection. */
  sendRefusal(outgoing: ServerResponse, status: number, sentence: string): void;
}

const beforeBody = "The connection closed before the whole request had arrived.";

/** Creates a server that does not listen yet. */
export function createGuardedServer({ limits, log, answer, sendRefusal }: GuardedServerOptions): Server {
  const connections = new Connections(limits.connections);
  const refusals = new RefusalLog(log, "request refused");
  const closed = new RefusalLog(log, "connection closed");
  connections.onclosed = ({ remoteAddress: peer }, reason) => closed.add({ peer, reason });
  const server = createServer(
    { connectionsCheckingInterval: limits.checkMilliseconds },
    (incoming, outgoing) => {
      if (!connections.begin(incoming.socket, outgoing)) return;
      // A closed connection no longer has it.
      const peer = incoming.socket.remoteAddress;
      answer({
        incoming,
        outgoing,
        path: incoming.url?.split("?", 1)[0] ?? "",
        admit: () => connections.admit(incoming.socket),
        refuse: (status, sentence) => {
          refusals.add({ status, peer, reason: sentence });
          sendRefusal(outgoing, status, sentence);
        },
        fail(error) {
          if (incoming.complete) log.warn("bad exchange", { peer, failure: error.code ?? error.name });
          else log.info("client left", { peer, reason: beforeBody });
        },
      });
    },
  );
  server.headersTimeout = limits.headersMilliseconds;
  server.requestTimeout = limits.requestMilliseconds;
  server.on("close", () => {
    for (const refused of [refusals, closed]) refused.flush();
  });
  return server.on("connection", (socket) => connections.open(socket));
}

/** Returns 256 random bits in the alphabet of a bearer token (RFC 6750, 2.1). */
export const makeToken = (): string => randomBytes(32).toString("base64url");

/** Listens, and resolves to the port. `flag` is the option with the address, for the error sentence. */
export function listen(
  server: Server,
  address: { host: string; port: number },
  flag: string,
): Promise<number> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) => {
      const advice = code === "EADDRINUSE" ? "; another program listens there, so choose another port" : "";
      reject(new Error(`${flag} cannot listen at ${host} port ${port} (${code})${advice}`));
    });
    server.listen(port, host, () => resolve((server.address() as { port: number }).port));
  });
}
