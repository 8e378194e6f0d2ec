/** Work without the rights of root, to whom the system denies nothing. */
import { chownSync } from "node:fs";

const isRoot = process.geteuid?.() === 0;

/** The user and the group that root becomes in `unprivileged`. */
export const nobody = 65534;

/** Makes the user of `unprivileged` the owner of a file or folder. */
export function chownToNobody(path: string): void {
  if (isRoot) chownSync(path, nobody, nobody);
}

/** Runs `act` as another user if this one is root. */
export async function unprivileged<T>(act: () => Promise<T>): Promise<T> {
  if (!isRoot) return await act();
  process.setegid?.(nobody);
  process.seteuid?.(nobody);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}
