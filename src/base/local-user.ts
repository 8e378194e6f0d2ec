import { userInfo } from "node:os";
import type { Author } from "./author.ts";

/** The name that Bun gives to every user if USER is not set. */
const unset = "unknown";

/** Returns the user who runs this process, by number if its name is not known. */
export function localUser(): Author {
  try {
    const { username } = userInfo();
    if (username !== unset) return { user: username };
  } catch {
    // The user has a number only.
  }
  return { user: String(process.getuid?.()) };
}
