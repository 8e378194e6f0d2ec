/** Byte order marks, which decide about the encoding of a file before anything else does. */

/** Returns the encoding that a mark at the beginning of a file says. UTF-32 is not an encoding of texts. */
export function markedEncoding(file: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  // Searches call this for each file, and destructuring would take many times as long.
  const first = file[0];
  if (first === 0xef) return file[1] === 0xbb && file[2] === 0xbf ? "utf-8" : undefined;
  if (first === 0xfe) return file[1] === 0xff ? "utf-16be" : undefined;
  if (first !== 0xff || file[1] !== 0xfe) return undefined;
  return file[2] === 0 && file[3] === 0 ? undefined : "utf-16le";
}

/** Returns the encoding that a mark says in the first of these pieces of a file. */
export async function markedEncodingIn(
  pieces: AsyncIterable<Uint8Array>,
): Promise<ReturnType<typeof markedEncoding>> {
  for await (const piece of pieces) return markedEncoding(piece);
  return undefined;
}
