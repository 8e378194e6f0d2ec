import { UsageError } from "./usage-error.ts";

/** An address to listen on for HTTP, and the bearer token that every request must carry. */
export interface HttpAddress {
  /** An address or `localhost`; an IPv6 address has no brackets. */
  readonly host: string;
  /** The port, 0 for any free one. */
  readonly port: number;
  /** The token; if absent, one is generated when needed. */
  readonly token: string | undefined;
  /** False with `--no-token`: every client that reaches the address is served. */
  readonly needsToken: boolean;
}

/**
 * Parses `--http`. Throws a `UsageError`, also for an address that is open to other machines without a token.
 */
export function parseHttpAddress(
  address: string,
  token: string | undefined,
): Omit<HttpAddress, "needsToken"> {
  const [, bracketed, plain, digits] =
    /^(?:(?:\[([\da-f:.]+)\]|([^:[\]]+)):)?(\d{1,5})$/i.exec(address) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) {
    throw new UsageError(
      `--http is ${JSON.stringify(address)}; it must be a port, or an address and a port such as 127.0.0.1:8080 or [::1]:8080`,
    );
  }
  const host = bracketed ?? plain ?? "127.0.0.1";
  if (token === undefined && !isLoopback(host)) {
    throw new UsageError(
      `--http ${address} can be reached from other machines and needs a bearer token; set CODER_TOKEN or --token`,
    );
  }
  return { host, port, token };
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
