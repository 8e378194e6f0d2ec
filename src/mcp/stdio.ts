import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Desk } from "./desk.ts";
import { maxMessageBytes, type Served } from "./served.ts";
import { openServer } from "./server.ts";
import { wholeLines } from "./whole-lines.ts";

/**
 * Serves one client on standard input and output, which carry frames and nothing else. `closed` resolves when the
 * client has gone: the input ended, the output broke, or a message was too large.
 */
export function serveOnStdio(desk: Desk): Served {
  // Each answer that waits for the pipe listens to it.
  process.stdout.setMaxListeners(0);
  const wire = new Wire(process.stdin.pipe(wholeLines(maxMessageBytes)), process.stdout, {
    maxBufferSize: maxMessageBytes,
  });
  const connection = serveStdio(() => openServer(desk), {
    transport: wire,
    // The message of a parser's error holds a piece of what it read.
    onerror: (error) => desk.log.warn("bad frame", { failure: error.name }),
  });
  return {
    closed: wire.closed,
    async stop() {
      process.stdin.unpipe();
      await desk.settled();
      await connection.close();
      process.stdin.destroy();
    },
  };
}

/** The SDK's transport, which says when it has closed. */
class Wire extends StdioServerTransport {
  #close: () => void = () => {};
  readonly closed = new Promise<void>((resolve) => {
    this.#close = resolve;
  });

  override async close(): Promise<void> {
    await super.close();
    this.#close();
  }
}
