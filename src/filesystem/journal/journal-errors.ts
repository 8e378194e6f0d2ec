import { quoteShort, Refusal } from "../../base/errors.ts";

/** The refusals of the journal alone. */
export const refuseJournal = {
  /** The path is in a checkpoint that callers may list. */
  undoProtected: (path: string, seq: number): Refusal =>
    new Refusal(
      "protected",
      `Checkpoint ${seq} changed ${quoteShort(path)}, which the configuration protects from every change now. Nothing was undone. Send \`paths\` without it, or \`force\`, which leaves it as it is.`,
      path,
    ),
} as const;
