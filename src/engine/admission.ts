import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Channels } from "./channels.ts";

/** What an upgrade request leads to: a place for its socket, or the HTTP status that refuses it. */
export function admit(
  request: IncomingMessage,
  channels: Channels,
  enterWorker: (socket: WebSocket) => void,
): ((socket: WebSocket) => void) | number {
  if (!isLocal(request.headers.origin)) return 403;
  const [path = "", query] = (request.url ?? "").split("?", 2);
  if (path === "/") return enterWorker;
  // Telemetry is accepted, so that its sender is content, and thrown away.
  if (path === "/otel") return () => {};
  const channel = /^\/ws\/channels\/([^/]+)$/.exec(path)?.[1];
  return (channel !== undefined && channels.admit(channel, new URLSearchParams(query))) || 404;
}

/** Browsers name the page that connects; a page from elsewhere must not drive what runs on this machine. */
function isLocal(origin: string | undefined): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return (
    hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))
  );
}

/** Answers an upgrade request with a status, 403 or 404, and hangs up. */
export function refuse(stream: Duplex, status: number): void {
  const reason = status === 403 ? "Forbidden" : "Not Found";
  stream.on("error", () => stream.destroy());
  stream.once("finish", () => stream.destroy());
  stream.end(`HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
