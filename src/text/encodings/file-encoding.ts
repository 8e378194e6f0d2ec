import { isAscii, isUtf8 } from "node:buffer";
import { markedEncoding } from "./byte-order-mark.ts";
import type { Encoding } from "./codec.ts";

/**
 * Returns the encoding of a file: that of its byte order mark; UTF-8 if it is valid UTF-8 and not only ASCII,
 * which a text in another encoding hardly ever is; else `named`. So a call that names an encoding for many
 * files does not damage those that do not need one.
 */
export function encodingOfFile(bytes: Buffer, named: Encoding | undefined): Encoding {
  const marked = markedEncoding(bytes);
  if (marked !== undefined) return marked;
  if (named === undefined || named === "utf-8") return "utf-8";
  return isUtf8(bytes) && !isAscii(bytes) ? "utf-8" : named;
}
