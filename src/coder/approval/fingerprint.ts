import { createHash } from "node:crypto";
import type { Expected, Step } from "../../filesystem/disk/steps.ts";
import { isTemporary } from "../../filesystem/jail/temporary.ts";

/** Returns a digest of everything that steps would do, and of the entries that they expect. */
export function fingerprintOf(steps: readonly Step[]): string {
  const hash = createHash("sha256");
  for (const step of steps) {
    const expected = "expected" in step ? { expected: describe(step.expected) } : {};
    hash.update(JSON.stringify({ ...step, ...expected }, plain));
  }
  return hash.digest("hex");
}

/** Returns the expected entry. One that an earlier step stages is part of that step. */
const describe = (expected: Expected): unknown => ("staged" in expected ? "staged" : expected);

function plain(this: unknown, key: string, value: unknown): unknown {
  // `JSON.stringify` has already called `toJSON` of a Buffer, so `value` is not the Buffer.
  const sent = (this as Readonly<Record<string, unknown>>)[key];
  if (sent instanceof Uint8Array) return createHash("sha256").update(sent).digest("hex");
  if (typeof sent === "bigint") return String(sent);
  // A change of spelling uses a random temporary name in between.
  return typeof sent === "string" && isTemporary(sent.slice(sent.lastIndexOf("/") + 1)) ? "" : value;
}
