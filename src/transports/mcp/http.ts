/** MCP over streamable HTTP, at `/mcp` of one address. */
import type { Server, ServerResponse } from "node:http";
import type { HttpAddress } from "../../config/arguments/http-address.ts";
import { createGuard, type Guard } from "../../serve/http-walls/guard.ts";
import {
  createGuardedServer,
  defaultServerLimits,
  listen,
  makeToken,
  type ServerLimits,
} from "../../serve/http-walls/guarded-server.ts";
import { renderClientConfiguration } from "./client-configuration.ts";
import { createExchange, type Exchange } from "./exchange.ts";
import { refuseRequest } from "./refusals.ts";
import type { ToolHost } from "./tool-host.ts";
import type { Listener } from "./transport.ts";

const path = "/mcp";

/** The address of the health check, which needs no token. */
const healthPath = "/healthz";

export interface HttpLimits extends ServerLimits {
  /** Maximum bytes of all bodies of requests under way. */
  readonly bodyBytes: number;
}

const defaultLimits: HttpLimits = { ...defaultServerLimits, bodyBytes: 256 * 1024 * 1024 };

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
  const url = urlOf(await listen(server, address, "--http"), address);
  host.log.info("listening", { url });
  if (token === undefined)
    host.log.warn("no token is asked for: every user of this machine can use this server");
  else if (address.token === undefined) options.announce(renderClientConfiguration(host.worker, url, token));
  return {
    closed: new Promise(() => {}),
    async stop() {
      server.close();
      await host.stop();
      await exchange.close();
      server.closeAllConnections();
    },
  };
}

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
  return createGuardedServer({
    limits,
    log: host.log,
    sendRefusal: refuseRequest,
    answer({ incoming, outgoing, path: place, admit, refuse, fail }) {
      const { host: name, origin, authorization } = incoming.headers;
      const denial = guard({ host: name, origin, authorization });
      if (place === healthPath && denial?.status !== 403) return answerHealth(outgoing);
      if (denial !== undefined) return refuse(denial.status, denial.sentence);
      admit();
      if (![path, `${path}/`].includes(place)) return refuse(404, `There is nothing here but ${path}.`);
      void exchange.answer(incoming, outgoing).catch((error: Error) => {
        fail(error);
        if (outgoing.headersSent) outgoing.destroy();
        else refuseRequest(outgoing, 400, "This request cannot be answered. Send a POST of JSON.");
      });
    },
  });
}

/** Answers a health check: the event loop turns, and connections are accepted. */
function answerHealth(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { "content-type": "text/plain", connection: "close" }).end("ok\n");
}

function urlOf(port: number, { host }: HttpAddress): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
}
