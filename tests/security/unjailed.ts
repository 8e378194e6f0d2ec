/**
 * The functions as they would be without a jail: the path is appended to the base, and the system goes where
 * it leads. Shows that an escape case is dangerous.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { callByPath } from "./by-path.ts";
import type { Call } from "./escape-case.ts";

/**
 * Makes the call and returns everything that a caller would see. An error shows nothing. `base` must lie in a
 * folder of the test.
 */
export function callUnjailed(call: Call, base: string, path: string): string {
  const place = path.startsWith("/") ? path : `${base}/${path}`;
  try {
    requireOurs(place, dirname(base));
    return callByPath(call, place, { followLinks: true });
  } catch {
    return "";
  }
}

/** Refuses a path that leads out of the test's folder, such as to a device or to the root of the system. */
function requireOurs(place: string, root: string): void {
  const real = existsSync(place) ? realpathSync.native(place) : realpathSync.native(root);
  if (real !== root && !real.startsWith(`${root}/`)) throw new Error("not of this test");
}
