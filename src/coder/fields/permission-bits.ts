import { refuseCoder } from "../coder-errors.ts";

/** Returns the permission bits of a request, or else those of the profile, if any. */
export function permissionBits(mode: string | undefined, byDefault: string | undefined): number | undefined {
  const chosen = mode ?? byDefault;
  return chosen === undefined ? undefined : parsePermissionBits(chosen);
}

/** Parses octal permission bits. Callers may not set set-id and sticky bits. */
export function parsePermissionBits(mode: string): number {
  const bits = /^[0-7]+$/.test(mode) ? Number.parseInt(mode, 8) : Number.NaN;
  if (bits <= 0o777) return bits;
  throw refuseCoder.badMode(mode);
}

/** Returns permission bits as octal digits, such as `0644`. */
export const octalDigits = (mode: number): string => `0${(mode & 0o777).toString(8).padStart(3, "0")}`;
