/** What only transactions say. */
import { quoteShort, Refusal } from "../errors.ts";
import { isTemporary } from "../jail/temporary.ts";

export const refuseTransaction = {
  /** `reason`: what stands in the way of keeping its record. */
  noRecord: (reason: string): Refusal =>
    new Refusal(
      "io",
      `The transaction was not begun, because its record cannot be kept (${reason}). Nothing was changed. Make the changes one by one with other functions, or ask the user to check the state folder.`,
    ),

  /** A transaction failed, and what it had done could not be undone; `path` is the first that stands in the way. */
  notTakenBack: (path: string): Refusal =>
    new Refusal(
      "io",
      `The transaction failed, and it could not be rolled back at ${quoteShort(visiblePart(path))}, which another program has changed since. Some of its changes remain. Read the files that it names before you change them again, and tell the user: the worker's log says where their earlier contents are kept.`,
      visiblePart(path),
    ),
};

/** Of what lies under a temporary name, which callers do not get to see, the folder that holds it. */
function visiblePart(path: string): string {
  const names = path.split("/");
  const hidden = names.findIndex(isTemporary);
  return hidden < 0 ? path : names.slice(0, hidden).join("/") || ".";
}
