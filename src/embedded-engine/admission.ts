import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocket } from "portable-ws";
import type { Channels } from "./channels.ts";
import type { ownerOf } from "./peer.ts";

/** The rules that admit connections. */
export interface Access {
  /**
   * The first part of the address's path, required of every program except those of the engine's own user.
   */
  readonly token: string | undefined;
  /**
   * Returns the user id that owns the socket at an address of this machine which is connected to another
   * address, or `undefined` if unknown.
   */
  readonly ownerOf: typeof ownerOf;
}

/** The destinations of upgrade requests. */
export interface Entrances {
  readonly access: Access;
  readonly channels: Channels;
  readonly enterWorker: (socket: WebSocket) => void;
}

/**
 * Admits an upgrade request. Returns a function that takes its socket, or the HTTP status that refuses it. A
 * path that begins with the token suffices. Without it, a request must come from a program of the user who
 * runs the engine, or of root, and not from a web page: browsers run as that user too, and send the page's
 * origin.
 */
export function acceptUpgrade(
  request: IncomingMessage,
  { access, channels, enterWorker }: Entrances,
): ((socket: WebSocket) => void) | number {
  const { origin } = request.headers;
  if (origin !== undefined && !isLocal(origin)) return 403;
  const [requestPath = "", query] = (request.url ?? "").split("?", 2);
  const afterToken = pathAfter(access.token, requestPath);
  if (afterToken === undefined && (origin !== undefined || !isOwn(request, access))) return 403;
  const path = afterToken ?? requestPath;
  if (path === "/") return enterWorker;
  // The engine accepts telemetry and discards it, so that its sender does not retry.
  if (path === "/otel") return () => {};
  const channel = /^\/ws\/channels\/([^/]+)$/.exec(path)?.[1];
  return (channel !== undefined && channels.admit(channel, new URLSearchParams(query))) || 404;
}

/**
 * Returns whether the page that connects, which browsers name, is local. A page from another host must not
 * control programs on this machine.
 */
function isLocal(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return (
    hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."))
  );
}

/** Returns the rest of a path that begins with the token, or `undefined` for any other path. */
function pathAfter(token: string | undefined, path: string): string | undefined {
  if (token === undefined) return undefined;
  const [, first = "", ...rest] = path.split("/");
  // Digests have equal lengths, and their comparison takes constant time, so that it does not show how much
  // of a guess is right.
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(first), digest(encodeURIComponent(token))) ? `/${rest.join("/")}` : undefined;
}

function isOwn({ socket }: IncomingMessage, access: Access): boolean {
  const peer = { address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
  const own = { address: socket.localAddress ?? "", port: socket.localPort ?? 0 };
  return isOwnUser(access.ownerOf(peer, own));
}

/** Returns whether a user id is that of this process, or of root, against whom there is no protection. */
export const isOwnUser = (user: number | undefined): boolean =>
  user !== undefined && (user === 0 || user === process.geteuid?.());

const reasons = { 403: "Forbidden", 404: "Not Found", 503: "Service Unavailable" } as const;

/** Answers an upgrade request with a status, 403, 404 or 503, and closes the connection. */
export function rejectUpgrade(stream: Duplex, status: number): void {
  const reason = reasons[status as keyof typeof reasons];
  stream.on("error", () => stream.destroy());
  stream.once("finish", () => stream.destroy());
  stream.end(`HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
