/** What only transactions say. */
import { quoteShort, Refusal } from "../errors.ts";

export const refuseTransaction = {
  /** A transaction failed, and what it had done could not be undone; `path` is the first that stands in the way. */
  notTakenBack: (path: string): Refusal =>
    new Refusal(
      "io",
      `The transaction failed, and what it had done by then could not all be taken back at ${quoteShort(path)}, which another program has changed meanwhile; read the files that it names before you change them again, and ask the operator, whose log says where their earlier contents are kept.`,
      path,
    ),
};
