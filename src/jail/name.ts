import { isUtf8 } from "node:buffer";
import type { Name } from "./folder.ts";

/** The name that these bytes are: text where they are UTF-8, else a copy of them. */
export function nameOf(bytes: Uint8Array): Name {
  const name = Buffer.from(bytes);
  return isUtf8(name) ? name.toString() : name;
}
