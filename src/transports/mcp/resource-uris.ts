/** The addresses of files below the base: `coder:///src/main.ts`. */
import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "@modelcontextprotocol/server";
import { quoteBriefly } from "./messages.ts";

const prefix = "coder:///";

/** Maximum characters of an address. A path in a request has fewer, even if each of its bytes is escaped. */
export const maxAddress = 1024 * 1024;

/** The address of every file (RFC 6570). `path` is relative to the base and keeps its slashes. */
export const uriTemplate = `${prefix}{+path}`;

export const uriOf = (path: string): string => prefix + path.split("/").map(encodeURIComponent).join("/");

/**
 * Returns the path in an address. Throws for the address of no file. `URL` would remove `..`, which the jail
 * resolves after links.
 */
export function pathOf(uri: string): string {
  if (uri.length > maxAddress)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `The address has ${uri.length} characters, and that of a file has at most ${maxAddress}; send one such as ${prefix}src/main.ts.`,
    );
  try {
    if (uri.startsWith(prefix)) return decodeURIComponent(uri.slice(prefix.length));
  } catch {
    // A percent sign that escapes nothing.
  }
  const sentence = `The address ${quoteBriefly(uri)} is not the address of a file here; send one such as ${prefix}src/main.ts.`;
  throw new ResourceNotFoundError(uri, sentence);
}
