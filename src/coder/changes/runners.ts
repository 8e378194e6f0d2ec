/** The commands that ran while something changed, as answers name them. */
import { type Author, isSameAuthor } from "../../base/author.ts";
import { type Cause, commandsIn } from "../../filesystem/feed/change.ts";

/**
 * Returns whether a change is as likely the work of another program, because only jobs in the background ran,
 * such as a server that a person works beside.
 */
export function isBesideJobs(cause: Cause): boolean {
  const commands = commandsIn(cause);
  return commands.length > 0 && commands.every(({ function_id: id }) => id === "shell::exec_bg");
}

/** Returns whether a reader made the change: by a call, or while none but its own commands ran. */
export function isMadeBy(cause: Cause, reader: Author | undefined): boolean {
  if (cause.by === "external" || isBesideJobs(cause)) return false;
  return (cause.commands ?? [cause]).every(({ author }) => isSameAuthor(author, reader));
}
