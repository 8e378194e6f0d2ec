import { refuseCoder } from "../coder-errors.ts";

/** The permission bits of a request, or of a profile where that has some. */
export function permissionBits(mode: string | undefined, byDefault: string | undefined): number | undefined {
  const chosen = mode ?? byDefault;
  return chosen === undefined ? undefined : parsePermissionBits(chosen);
}

/** Octal digits, permission bits only: set-id and sticky bits are not for callers to set. */
export function parsePermissionBits(mode: string): number {
  const bits = /^[0-7]+$/.test(mode) ? Number.parseInt(mode, 8) : Number.NaN;
  if (bits <= 0o777) return bits;
  throw refuseCoder.badMode(mode);
}
