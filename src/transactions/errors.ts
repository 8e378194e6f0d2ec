/** The refusals of transactions alone. */
import { quoteShort, Refusal } from "../errors.ts";
import { isTemporary } from "../jail/temporary.ts";

export const refuseTransaction = {
  /** `reason` prevents its record from being kept. */
  noRecord: (reason: string): Refusal =>
    new Refusal(
      "io",
      `The transaction was not begun, because its record cannot be kept (${reason}). Nothing was changed. Make the changes one by one with other functions, or ask the user to check the state folder.`,
    ),

  /**
   * A transaction failed, and its rollback failed too. `path` is the first that another program has changed.
   */
  notTakenBack: (path: string): Refusal =>
    new Refusal(
      "io",
      `The transaction failed, and it could not be rolled back at ${quoteShort(visiblePart(path))}, which another program has changed since. Some of its changes remain. Read the files that it names before you change them again, and tell the user: the worker's log says where their earlier contents are kept.`,
      visiblePart(path),
    ),
};

/**
 * Returns the path, or for an entry below a temporary name, which callers do not see, the folder that
 * contains it.
 */
function visiblePart(path: string): string {
  const names = path.split("/");
  const hidden = names.findIndex(isTemporary);
  return hidden < 0 ? path : names.slice(0, hidden).join("/") || ".";
}
