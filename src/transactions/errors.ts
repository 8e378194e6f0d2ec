/** What only transactions say. */
import { quoteShort, Refusal } from "../errors.ts";

export const refuseTransaction = {
  /** `reason`: what stands in the way of keeping its record. */
  noRecord: (reason: string): Refusal =>
    new Refusal(
      "io",
      `The transaction was not begun, because its record cannot be kept (${reason}); make the changes one by one with other functions, or ask the operator to look at the state folder.`,
    ),

  /** A transaction failed, and what it had done could not be undone; `path` is the first that stands in the way. */
  notTakenBack: (path: string): Refusal =>
    new Refusal(
      "io",
      `The transaction failed, and what it had done by then could not all be taken back at ${quoteShort(path)}, which another program has changed meanwhile; read the files that it names before you change them again, and ask the operator, whose log says where their earlier contents are kept.`,
      path,
    ),
};
