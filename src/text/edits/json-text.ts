import { jsonBytes, measureUtf8 } from "../sizes/json-size.ts";
import { decodeUtf8 } from "./text.ts";

/** A text in an answer. */
export interface JsonText {
  readonly text: string;
  /** The size of the text as a JSON string. */
  readonly jsonBytes: number;
}

/**
 * Decodes bytes like `decodeUtf8`, and measures the text. For UTF-8 the size is counted in the bytes, which
 * takes less time.
 */
export function decodeForAnswer(bytes: Buffer): JsonText & { readonly isUtf8: boolean } {
  const measured = measureUtf8(bytes);
  if (measured.isAscii)
    return { text: bytes.toString("latin1"), isUtf8: true, jsonBytes: measured.jsonBytes };
  const { text, isUtf8 } = decodeUtf8(bytes);
  return { text, isUtf8, jsonBytes: isUtf8 ? measured.jsonBytes : jsonBytes(text) };
}
