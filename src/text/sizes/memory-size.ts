import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";

/** The bytes that each value takes besides its text and that of its name. */
const bytesOfValue = 16;

/** Values that are measured in one step, which takes about a millisecond. */
const valuesPerStep = 8192;

/**
 * Returns the approximate memory of a parsed payload, however deeply nested. Channels that the SDK has put
 * into it, and other instances of classes, do not count; buffers count with their length.
 */
export const memoryBytes = (payload: unknown): number => runAtOnce(measureMemory(payload));

/** Does what `memoryBytes` does, in steps of some thousand values. */
export function* measureMemory(payload: unknown): Steps<number> {
  const pending = [payload];
  let [bytes, values] = [bytesOfValue, 1];
  const add = (value: unknown) => {
    bytes += bytesOfValue;
    if (typeof value === "string") bytes += value.length;
    else if (typeof value === "object" && value !== null) pending.push(value);
  };
  if (typeof payload === "string") bytes += payload.length;
  while (pending.length > 0) {
    const value = pending.pop();
    if (value instanceof Uint8Array) bytes += value.length;
    else if (Array.isArray(value))
      for (const one of value) {
        add(one);
        if (++values % valuesPerStep === 0) yield;
      }
    else if (isData(value))
      for (const name in value) {
        bytes += name.length;
        add(value[name]);
        if (++values % valuesPerStep === 0) yield;
      }
  }
  return bytes;
}

const isData = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
