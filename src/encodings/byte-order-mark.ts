/** Byte order marks, which decide about the encoding of a file before anything else does. */

/** Returns the encoding that a mark at the beginning of a file says. UTF-32 is not an encoding of texts. */
export function markedEncoding(file: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  const [first, second, third, fourth] = file;
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first !== 0xff || second !== 0xfe) return undefined;
  return third === 0 && fourth === 0 ? undefined : "utf-16le";
}
