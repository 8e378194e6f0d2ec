/**
 * What the functions would do without a jail: the path is put behind the base, and the system goes where it leads. Shows
 * that an escape case is dangerous.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { callByPath } from "./by-path.ts";
import type { Call } from "./escape-case.ts";

/** Does it, and returns what a caller would be shown; an error shows nothing. `base` lies in a folder of the test's. */
export function callUnjailed(call: Call, base: string, path: string): string {
  const place = path.startsWith("/") ? path : `${base}/${path}`;
  try {
    requireOurs(place, dirname(base));
    return callByPath(call, place, { followLinks: true });
  } catch {
    return "";
  }
}

/** However careless: a link to a device, or to the root of the system, must not cost this machine anything. */
function requireOurs(place: string, root: string): void {
  const real = existsSync(place) ? realpathSync.native(place) : realpathSync.native(root);
  if (real !== root && !real.startsWith(`${root}/`)) throw new Error("not of this test");
}
