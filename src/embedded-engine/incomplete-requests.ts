import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Maximum concurrent connections without a complete request. */
const maxPending = 32;

/** Milliseconds within which a request has to arrive. */
export const requestMilliseconds = 5000;

/**
 * Bounds the connections of `server` that have not been upgraded, so that a peer that opens many and sends
 * nothing takes no descriptors from the functions: the oldest makes room for the next.
 */
export function boundIncompleteRequests(server: Server): void {
  const pending = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    pending.add(socket);
    socket.once("close", () => pending.delete(socket));
    const [oldest] = pending;
    if (pending.size > maxPending && oldest !== undefined) {
      pending.delete(oldest);
      oldest.destroy();
    }
  });
  server.on("upgrade", (_request, socket: Socket) => pending.delete(socket));
}
