/** The bytes that each value takes besides its text and that of its name. */
const bytesOfValue = 16;

/**
 * Returns the approximate memory of a parsed payload, however deeply nested. Channels that the SDK has put
 * into it, and other instances of classes, do not count; buffers count with their length.
 */
export function memoryBytes(payload: unknown): number {
  let bytes = 0;
  const pending = [payload];
  while (pending.length > 0) {
    const value = pending.pop();
    bytes += bytesOfValue;
    if (typeof value === "string") bytes += value.length;
    else if (value instanceof Uint8Array) bytes += value.length;
    else if (Array.isArray(value)) for (const one of value) pending.push(one);
    else if (isData(value))
      for (const name in value) {
        bytes += name.length;
        pending.push(value[name]);
      }
  }
  return bytes;
}

const isData = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
