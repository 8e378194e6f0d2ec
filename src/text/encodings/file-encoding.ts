import { isAscii, isUtf8 } from "node:buffer";
import { markedEncoding } from "./byte-order-mark.ts";
import { type Encoding, isUtf16 } from "./codec.ts";

/**
 * Returns the encoding of a file: that of its byte order mark; UTF-8 if it is valid UTF-8 and not only ASCII,
 * which a text in another encoding hardly ever is; UTF-8 in place of a UTF-16 that its bytes rule out; else
 * `named`. So a call that names an encoding for many files does not damage those in another one.
 */
export function encodingOfFile(bytes: Buffer, named: Encoding | undefined): Encoding {
  const marked = markedEncoding(bytes);
  if (marked !== undefined) return marked;
  if (named === undefined || named === "utf-8") return "utf-8";
  if (isUtf16(named) && isNotUtf16(bytes)) return "utf-8";
  return isUtf8(bytes) && !isAscii(bytes) ? "utf-8" : named;
}

/** Returns whether lines end without the NUL that a line end has in UTF-16, or the only line is ASCII. */
const isNotUtf16 = (bytes: Buffer): boolean =>
  !bytes.includes(0) && (bytes.includes(0x0a) || /^[\t\r\x20-\x7e]+$/.test(bytes.toString("latin1")));
