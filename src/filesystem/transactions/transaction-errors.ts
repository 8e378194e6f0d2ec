/** The refusals of transactions alone. */
import { quoteShort, Refusal } from "../../base/errors.ts";
import { isTemporary } from "../jail/temporary.ts";

export const refuseTransaction = {
  /** `reason` prevents its record from being kept. */
  noRecord: (reason: string): Refusal =>
    new Refusal(
      "io",
      `The transaction was not begun, because its record cannot be kept (${reason}). Nothing was changed. Make the changes one by one with other functions, or ask the user to check the state folder.`,
    ),

  /** A transaction was rolled back, or not begun, because its worker stops. */
  stopping: (): Refusal =>
    new Refusal(
      "timeout",
      "The call was stopped before it was finished, because the program that runs it was told to end. It is rolled back. Nothing was changed; repeat the call.",
    ),

  /**
   * A transaction failed, and its rollback failed too. `path` is the first that another program has changed.
   */
  notTakenBack: (path: string, transaction: string): Refusal =>
    new Refusal(
      "io",
      `The transaction failed, and it could not be rolled back at ${quoteShort(visiblePath(path))}, which another program has changed since. Some of its changes remain. Read the files that it names before you change them again, and tell the user. coder::undo with "transaction": "${transaction}" tries to roll it back again; with "force": true it keeps what is there now, and restores what the transaction had removed.`,
      visiblePath(path),
      { details: { transaction } },
    ),

  /** Refuses a transaction because many earlier ones were left half done. */
  manyLeft: (count: number): Refusal =>
    new Refusal(
      "io",
      `The transaction was not begun, because ${count} earlier ones were left half done. Nothing was changed. coder::info lists them; send coder::undo with the \`transaction\` of each, and with \`force\` where another program has changed something since.`,
    ),
};

/**
 * Returns the path, or for an entry below a temporary name, which callers do not see, the folder that
 * contains it.
 */
export function visiblePath(path: string): string {
  const names = path.split("/");
  const hidden = names.findIndex(isTemporary);
  return hidden < 0 ? path : names.slice(0, hidden).join("/") || ".";
}
