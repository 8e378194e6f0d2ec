import { type Encoding, encodingWithLabel } from "./codec.ts";
import { refuseEncoding } from "./encoding-errors.ts";

/**
 * Returns the encoding that a request names. Throws bad-input for an unknown label; `others` is a sentence on
 * other values that the field takes.
 */
export function requestedEncoding(label: string | undefined, others?: string): Encoding | undefined {
  if (label === undefined) return undefined;
  const encoding = encodingWithLabel(label);
  if (encoding === undefined) throw refuseEncoding.unknownLabel(label, others);
  return encoding;
}
