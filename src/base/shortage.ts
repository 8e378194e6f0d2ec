/** Shortages that may pass. They say nothing about what the system supports. */
import { constants } from "node:os";

const codes = ["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"] as const;
const passing: ReadonlySet<unknown> = new Set(codes);

/** Thrown if descriptors, processes or memory have run out. */
export class ShortageError extends Error {
  override readonly name = "ShortageError";
  readonly code: string;

  constructor(code: string) {
    super(`resources have run out (${code})`);
    this.code = code;
  }
}

/** Returns the errno code of an error that reports such a shortage, or else `undefined`. */
export function shortageIn(error: unknown): string | undefined {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return passing.has(code) ? code : undefined;
}

/** Throws a `ShortageError` if errno, negative or not, reports such a shortage. */
export function requireNoShortage(errno: number | undefined): void {
  const code = codes.find((name) => constants.errno[name] === Math.abs(errno ?? 0));
  if (code !== undefined) throw new ShortageError(code);
}
