import { isUtf8 } from "node:buffer";
import type { Name } from "./folder.ts";

/** A name in `bytes[from, to)`. */
export interface NameBytes {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/** Returns the name with these bytes: text if they are UTF-8, else a copy of them. */
export const nameOf = (bytes: Buffer): Name => (isUtf8(bytes) ? bytes.toString() : Buffer.from(bytes));
