import { createHash } from "node:crypto";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Expected, Step } from "../../filesystem/disk/steps.ts";
import { isTemporary } from "../../filesystem/jail/temporary.ts";

/** Returns a digest of everything that steps would do, and of the entries that they expect. */
export function* fingerprintOf(steps: readonly Step[]): Steps<string> {
  const hash = createHash("sha256");
  for (const step of steps) {
    const expected = "expected" in step ? { expected: describe(step.expected) } : {};
    hash.update(JSON.stringify(yield* plain({ ...step, ...expected })));
    yield;
  }
  return hash.digest("hex");
}

/** Returns the expected entry. One that an earlier step stages is part of that step. */
const describe = (expected: Expected): unknown => ("staged" in expected ? "staged" : expected);

/** Returns a value as JSON can hold it, with the digests of bytes. */
function* plain(value: unknown): Steps<unknown> {
  if (typeof value === "bigint") return String(value);
  // A change of spelling uses a random temporary name in between.
  if (typeof value === "string") return isTemporary(value.slice(value.lastIndexOf("/") + 1)) ? "" : value;
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (value instanceof Uint8Array) return yield* digestOf(value);
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) entries.push([key, yield* plain(item)]);
  return Object.fromEntries(entries);
}

/** Bytes that are hashed in one step, which takes about a millisecond. */
const bytesPerStep = 1024 * 1024;

function* digestOf(bytes: Uint8Array): Steps<string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += bytesPerStep) {
    if (at > 0) yield;
    hash.update(bytes.subarray(at, at + bytesPerStep));
  }
  return hash.digest("hex");
}
