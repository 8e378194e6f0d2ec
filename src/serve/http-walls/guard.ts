/**
 * Authorizes requests over HTTP. A web page can send requests to addresses of this machine, also under a name
 * that resolves to it (DNS rebinding), so `Host` and `Origin` must be names of this server (MCP 2025-11-25,
 * basic/transports).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import type { HttpAddress } from "../../config/arguments/http-address.ts";

/** The headers that name the server and the site of a request. */
export interface Names {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/** The headers that show the origin of a request. */
export interface Credentials extends Names {
  readonly authorization: string | undefined;
}

/** The refusal of a request. */
export interface Denial {
  readonly status: 401 | 403;
  readonly sentence: string;
}

export type Guard = (credentials: Credentials) => Denial | undefined;

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];
const everyAddress = ["0.0.0.0", "::"];

/** Creates the guard of a server that listens at `host`. Without a token, it requires none. */
export function createGuard({ host, token }: Pick<HttpAddress, "host" | "token">): Guard {
  const checkNames = createNameCheck(host);
  const matches = token === undefined ? () => true : createTokenCheck(token);
  return ({ authorization = "", ...names }) => {
    const denial = checkNames(names) ?? (token === undefined ? checkOwnOrigin(names) : undefined);
    if (denial !== undefined) return denial;
    const [, sent = ""] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (!matches(sent))
      return { status: 401, sentence: "Send the server's token in the header Authorization: Bearer TOKEN." };
    return undefined;
  };
}

/** Creates the check of the names in a request to a server that listens at `host`. */
export function createNameCheck(host: string): (names: Names) => Denial | undefined {
  const known = [...loopbackNames, host.includes(":") ? `[${host}]` : host];
  return ({ host: hostHeader, origin }) => {
    // A server on every address may have any name; only the token guards it, which no page knows.
    if (!everyAddress.includes(host) && !validateHostHeader(hostHeader, known).ok)
      return { status: 403, sentence: "The Host header names another server than this one." };
    if (!validateOriginHeader(origin, known).ok)
      return { status: 403, sentence: "The Origin header names a site that may not use this server." };
    return undefined;
  };
}

/** Refuses pages of other ports of this machine: without a token, any of them could use the server. */
function checkOwnOrigin({ host, origin }: Names): Denial | undefined {
  if (origin === undefined || origin.replace(/^https?:\/\//, "") === host) return undefined;
  return {
    status: 403,
    sentence:
      "The Origin header names another site than this server, which requires no token; its own pages alone may use it.",
  };
}

/**
 * Creates a check of sent tokens. It compares in constant time, which does not show how much of a guess is
 * right.
 */
export function createTokenCheck(token: string): (sent: string) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return (sent) => timingSafeEqual(digest(sent), expected);
}
