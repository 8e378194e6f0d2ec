/** The command line makes no sense; the message is one line that names the flag. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
