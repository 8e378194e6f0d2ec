import { once } from "node:events";
import { pipeline } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { LineTransport } from "./line-transport.ts";
import { type Listener, maxMessageBytes } from "./listener.ts";
import { createMcpServer } from "./server.ts";
import type { ToolHost } from "./tool-host.ts";
import { wholeLines } from "./whole-lines.ts";

/**
 * How long calls may take that are under way when the input ends. Scripts send what they have and end; a client that is
 * gone waits for nothing, and SDKs give the process 2 s to end.
 */
const leftMilliseconds = 1000;

/**
 * Serves one client on standard input and output, which carry frames and nothing else. `closed` resolves when the
 * client has gone: the input ended, the output broke, or a message was too large.
 */
export function serveOnStdio(host: ToolHost): Listener {
  // Each answer that waits for the pipe listens to it.
  process.stdout.setMaxListeners(0);
  const lines = wholeLines(maxMessageBytes);
  const leases = host.openLeases("stdio");
  const transport = new LineTransport(lines, process.stdout, (id) => leases.take(id));
  let hasLeft = false;
  const left = once(lines, "close").then(() => {
    hasLeft = true;
  });
  // A client that breaks off has gone, like one that ends.
  pipeline(process.stdin, lines, () => {});
  const connection = serveStdio(() => createMcpServer(host, leases), {
    transport,
    // The message of an error may hold a piece of what was read.
    onerror: (error) => host.log.warn("bad frame", { failure: error.name }),
  });
  return {
    closed: Promise.race([transport.closed, left]),
    async stop() {
      transport.pause();
      await host.settled(hasLeft ? leftMilliseconds : undefined);
      await connection.close();
      process.stdin.destroy();
    },
  };
}
