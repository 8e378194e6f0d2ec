import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Desk } from "./desk.ts";
import { maxMessageBytes, type Served } from "./served.ts";
import { openServer } from "./server.ts";
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
export function serveOnStdio(desk: Desk): Served {
  // Each answer that waits for the pipe listens to it.
  process.stdout.setMaxListeners(0);
  // The SDK would drop the answers that are still to come when its input ends, so it does not learn of that.
  const input = process.stdin.pipe(wholeLines(maxMessageBytes), { end: false });
  const wire = new Wire(input, process.stdout, { maxBufferSize: maxMessageBytes });
  let hasLeft = false;
  const left = inputEnd().then(() => {
    hasLeft = true;
  });
  const connection = serveStdio(() => openServer(desk), {
    transport: wire,
    // The message of a parser's error holds a piece of what it read.
    onerror: (error) => desk.log.warn("bad frame", { failure: error.name }),
  });
  return {
    closed: Promise.race([wire.closed, left]),
    async stop() {
      process.stdin.unpipe();
      await desk.settled(hasLeft ? leftMilliseconds : undefined);
      await connection.close();
      process.stdin.destroy();
    },
  };
}

/** Resolves when nothing more will come in, and what came has reached those who answer it. */
async function inputEnd(): Promise<void> {
  await Promise.race([once(process.stdin, "end"), once(process.stdin, "close")]).catch(() => {});
  await setImmediate();
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
