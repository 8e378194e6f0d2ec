/** MCP over streamable HTTP, at `/mcp` of one address. */
import { randomBytes } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { HttpAddress } from "../../config/arguments/http-address.ts";
import { renderClientConfiguration } from "./client-configuration.ts";
import { type ConnectionLimits, Connections } from "./connections.ts";
import { createExchange, type Exchange } from "./exchange.ts";
import { createGuard, type Guard } from "./guard.ts";
import { RefusalLog } from "./refusal-log.ts";
import { refuseRequest } from "./refusals.ts";
import type { ToolHost } from "./tool-host.ts";
import type { Listener } from "./transport.ts";

const path = "/mcp";

/** The address of the health check, which needs no token. */
const healthPath = "/healthz";

export interface HttpLimits {
  readonly connections: ConnectionLimits;
  /** The milliseconds within which the headers of a request, and the whole request, have to arrive. */
  readonly headersMilliseconds: number;
  readonly requestMilliseconds: number;
  /** The interval of that check. */
  readonly checkMilliseconds: number;
  /** Maximum bytes of all bodies of requests under way. */
  readonly bodyBytes: number;
}

const defaultLimits: HttpLimits = {
  connections: { total: 256, unauthenticatedOfPeer: 32 },
  headersMilliseconds: 5000,
  requestMilliseconds: 60_000,
  checkMilliseconds: 1000,
  bodyBytes: 256 * 1024 * 1024,
};

export interface HttpOptions {
  readonly limits?: Partial<HttpLimits>;
  /**
   * Called with the configuration of a client if the server has generated a token. The token appears nowhere
   * else.
   */
  readonly announce: (configuration: string) => void;
}

/** Listens at `address`. Throws if it cannot. */
export async function serveOnHttp(
  host: ToolHost,
  address: HttpAddress,
  options: HttpOptions,
): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  const token = address.token ?? (address.needsToken ? makeToken() : undefined);
  const exchange = createExchange(host, limits.bodyBytes);
  const server = createHttpServer({
    host: host,
    exchange,
    guard: createGuard({ ...address, token }),
    limits,
  });
  await listen(server, address);
  const url = urlOf(server, address);
  host.log.info("listening", { url });
  if (token === undefined)
    host.log.warn("no token is asked for: every user of this machine can use this server");
  else if (address.token === undefined) options.announce(renderClientConfiguration(host.worker, url, token));
  return {
    closed: new Promise(() => {}),
    async stop() {
      server.close();
      await host.settled();
      await exchange.close();
      server.closeAllConnections();
    },
  };
}

/** Returns 256 random bits in the alphabet of a bearer token (RFC 6750, 2.1). */
const makeToken = (): string => randomBytes(32).toString("base64url");

interface ServerParts {
  readonly host: ToolHost;
  readonly exchange: Exchange;
  readonly guard: Guard;
  readonly limits: HttpLimits;
}

/**
 * Creates a server that does not listen yet. It reads no body of an unauthorized request, and closes its
 * connection.
 */
function createHttpServer({ host, exchange, guard, limits }: ServerParts): Server {
  const connections = new Connections(limits.connections);
  const refusals = new RefusalLog(host.log);
  const server = createServer(
    { connectionsCheckingInterval: limits.checkMilliseconds },
    (incoming, outgoing) => {
      const { host: name, origin, authorization } = incoming.headers;
      const refuse = (status: number, sentence: string) => {
        refusals.add(incoming, status, sentence);
        refuseRequest(outgoing, status, sentence);
      };
      const place = incoming.url?.split("?", 1)[0] ?? "";
      const denial = guard({ host: name, origin, authorization });
      if (place === healthPath && denial?.status !== 403) return answerHealth(outgoing);
      if (denial !== undefined) return refuse(denial.status, denial.sentence);
      connections.admit(incoming.socket);
      if (![path, `${path}/`].includes(place)) return refuse(404, `There is nothing here but ${path}.`);
      void exchange.answer(incoming, outgoing).catch((error: Error) => {
        host.log.warn("bad exchange", { failure: error.name });
        if (outgoing.headersSent) outgoing.destroy();
        else refuseRequest(outgoing, 400, "This is no request that can be answered; send a POST of JSON.");
      });
    },
  );
  server.headersTimeout = limits.headersMilliseconds;
  server.requestTimeout = limits.requestMilliseconds;
  return server.on("connection", (socket) => connections.open(socket));
}

/** Answers a health check: the event loop turns, and connections are accepted. */
function answerHealth(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { "content-type": "text/plain", connection: "close" }).end("ok\n");
}

function listen(server: Server, { host, port }: HttpAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new Error(`--http cannot listen at ${host} port ${port} (${error.code})`)),
    );
    server.listen(port, host, resolve);
  });
}

function urlOf(server: Server, { host }: HttpAddress): string {
  const { port } = server.address() as { port: number };
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
}
