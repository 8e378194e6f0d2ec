/**
 * Who may speak HTTP to this server. A web page that a person visits can send requests to addresses of this machine,
 * also under a name that was made to resolve to it (DNS rebinding); so `Host` and `Origin` must be names of this server
 * (MCP 2025-11-25, basic/transports).
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import type { HttpAddress } from "../arguments/http-address.ts";

/** What a request says about where it comes from. */
export interface Credentials {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
}

/** Why a request is not served. */
export interface Denial {
  readonly status: 401 | 403;
  readonly sentence: string;
}

export type Guard = (credentials: Credentials) => Denial | undefined;

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];
const everyAddress = ["0.0.0.0", "::"];

/** The guard of a server that listens at `host`. Without a token, it requires none. */
export function createGuard({ host, token }: Pick<HttpAddress, "host" | "token">): Guard {
  const names = [...loopbackNames, host.includes(":") ? `[${host}]` : host];
  const matches = token === undefined ? () => true : createTokenCheck(token);
  return ({ host: asked, origin, authorization }) => {
    // On every address any name can be this machine's; there the token, which no page knows, guards alone.
    if (!everyAddress.includes(host) && !validateHostHeader(asked, names).ok)
      return { status: 403, sentence: "The Host header names another server than this one." };
    if (!validateOriginHeader(origin, names).ok)
      return { status: 403, sentence: "The Origin header names a site that may not use this server." };
    if (!matches(authorization))
      return { status: 401, sentence: "Send the server's token in the header Authorization: Bearer TOKEN." };
    return undefined;
  };
}

/** Compares in constant time, so that the time does not show how much of a guess is right. */
function createTokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return (authorization = "") => {
    const [, sent = ""] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(sent), expected);
  };
}
