/** MCP over streamable HTTP, at `/mcp` of one address. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import type { HttpAddress } from "../arguments.ts";
import type { Desk } from "./desk.ts";
import { openGuard } from "./guard.ts";
import { maxMessageBytes, type Served } from "./served.ts";
import { openServer } from "./server.ts";
import { Sessions } from "./sessions.ts";
import { BodyTooLarge, readRequest, sendResponse } from "./web.ts";

const path = "/mcp";

/** Connections held at once, and how long a request may take to arrive. */
const mostConnections = 256;
const requestMilliseconds = 60_000;

/** Listens at `address`. Throws when it cannot. */
export async function serveOnHttp(desk: Desk, address: HttpAddress): Promise<Served> {
  const exchange = openExchange(desk);
  const guard = openGuard(address);
  const server = createServer((incoming, outgoing) => {
    const denial = guard({
      host: incoming.headers.host,
      origin: incoming.headers.origin,
      authorization: incoming.headers.authorization,
    });
    if (denial !== undefined) return refuseRequest(outgoing, denial.status, denial.sentence);
    if (incoming.url?.split("?", 1)[0] !== path)
      return refuseRequest(outgoing, 404, `There is nothing here but ${path}.`);
    void answer(exchange.answer, incoming, outgoing).catch((error: Error) => {
      desk.log.warn("bad exchange", { failure: error.name });
      if (outgoing.headersSent) outgoing.destroy();
      else refuseRequest(outgoing, 400, "This is no request that can be answered; send a POST of JSON.");
    });
  });
  server.maxConnections = mostConnections;
  server.requestTimeout = requestMilliseconds;
  await listen(server, address);
  desk.log.info("listening", { url: urlOf(server, address) });
  return {
    closed: new Promise(() => {}),
    async stop() {
      server.close();
      await desk.settled();
      await exchange.close();
      server.closeAllConnections();
    },
  };
}

interface Exchange {
  readonly answer: (request: Request) => Promise<Response>;
  close(): Promise<void>;
}

/** Both kinds of client: revision 2026-07-28 needs no session, the older ones get one. */
function openExchange(desk: Desk): Exchange {
  const sessions = new Sessions(desk);
  const limit = { maxRequestBodySize: maxMessageBytes };
  const stateless = createMcpHandler(() => openServer(desk), {
    ...limit,
    legacy: "reject",
    onerror: (error) => desk.log.debug("bad request", { failure: error.name }),
  });
  return {
    async answer(request) {
      const isOlder = await isLegacyRequest(request, undefined, limit);
      return isOlder ? sessions.answer(request) : stateless.fetch(request);
    },
    async close() {
      await Promise.all([sessions.close(), stateless.close()]);
    },
  };
}

async function answer(
  respond: Exchange["answer"],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  outgoing.once("close", () => left.abort());
  try {
    const request = await readRequest(incoming, maxMessageBytes, left.signal);
    await sendResponse(await respond(request), outgoing);
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    refuseRequest(outgoing, 413, `A request may have at most ${maxMessageBytes} bytes; send less at once.`);
  }
}

function refuseRequest(outgoing: ServerResponse, status: number, sentence: string): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message: sentence } });
  outgoing
    .writeHead(status, {
      "content-type": "application/json",
      connection: "close",
      ...(status === 401 && { "www-authenticate": "Bearer" }),
    })
    .end(body);
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
