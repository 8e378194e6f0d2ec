/** The addresses of files below the base: `coder:///src/main.ts`. */
import { ResourceNotFoundError } from "@modelcontextprotocol/server";

const prefix = "coder:///";

/** The address of every file (RFC 6570). `path` is relative to the base and keeps its slashes. */
export const uriTemplate = `${prefix}{+path}`;

export const uriOf = (path: string): string => prefix + path.split("/").map(encodeURIComponent).join("/");

/** Returns the path in an address. `URL` would remove `..`, which the jail resolves after links. */
export function pathOf(uri: string): string {
  try {
    if (uri.startsWith(prefix)) return decodeURIComponent(uri.slice(prefix.length));
  } catch {
    // A percent sign that escapes nothing.
  }
  const sentence = `The address ${JSON.stringify(uri)} is not the address of a file here; send one such as ${prefix}src/main.ts.`;
  throw new ResourceNotFoundError(uri, sentence);
}
