import { once } from "node:events";
import { pipeline } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { CallOrder } from "../../calls/call-order.ts";
import { LineTransport } from "./sdk-gaps/line-transport.ts";
import { wholeLines } from "./sdk-gaps/whole-lines.ts";
import { createMcpServer } from "./server.ts";
import { StdioListens } from "./stdio-subscriptions.ts";
import { maxListens } from "./subscriptions.ts";
import { nameSession, type ToolHost } from "./tool-host.ts";
import { type Listener, maxMessageBytes } from "./transport.ts";

/**
 * Milliseconds without the end of a call after which the process ends once its input has ended. Scripts send
 * their calls and close the input at once. A client that has left waits for no answers, and SDKs give the
 * process 2 s to end.
 */
const leftMilliseconds = 1000;

/**
 * Serves one client on standard input and output, which carry frames and nothing else. `closed` resolves when
 * the client has left: the input ended, or the output failed.
 */
export function serveOnStdio(host: ToolHost): Listener {
  // Each answer that waits for the pipe adds a listener.
  process.stdout.setMaxListeners(0);
  const lines = wholeLines(maxMessageBytes);
  const leases = host.openLeases("stdio");
  const transport = new LineTransport(lines, process.stdout, { takeLease: (id) => leases.take(id) });
  let hasLeft = false;
  const left = once(lines, "close").then(() => {
    hasLeft = true;
  });
  // An error of the input means the same as its end: the client has left.
  pipeline(process.stdin, lines, () => {});
  let server: Server | undefined;
  const watch = host.watchResources({
    ready: () => transport.ready(),
    resourceUpdated: async (uri) => server?.sendResourceUpdated({ uri }),
    resourceListChanged: async () => server?.sendResourceListChanged(),
  });
  const order = new CallOrder();
  const session = nameSession();
  const connect = () => {
    server = createMcpServer(host, { leases, session, order, watch });
    return server;
  };
  const connection = serveStdio(connect, {
    transport: new StdioListens(host, transport),
    maxSubscriptions: maxListens,
    // The message of an error may contain a piece of the input.
    onerror: (error) => host.log.warn("bad frame", { failure: error.name }),
  });
  return {
    closed: Promise.race([transport.closed, left]),
    async stop() {
      await transport.pause();
      await host.stop(hasLeft ? leftMilliseconds : undefined);
      await transport.written();
      watch?.close();
      await connection.close();
      process.stdin.destroy();
    },
  };
}
