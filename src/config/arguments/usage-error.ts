/** Thrown for an invalid command line. The message is one line that names the flag. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
