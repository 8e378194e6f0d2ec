import { userInfo } from "node:os";
import type { Author } from "./author.ts";

/** Returns the user who runs this process, by number if it has no name. */
export function localUser(): Author {
  try {
    return { user: userInfo().username };
  } catch {
    return { user: String(process.getuid?.()) };
  }
}
