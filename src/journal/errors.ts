import { quoteShort, Refusal } from "../errors.ts";

/** What only the journal refuses. */
export const refuseJournal = {
  /** The path is in a checkpoint that callers may list. */
  undoProtected: (path: string, seq: number): Refusal =>
    new Refusal(
      "protected",
      `Checkpoint ${seq} changed ${quoteShort(path)}, which the worker's configuration protects from every change now. Nothing was undone. Send \`paths\` without it, or \`force\`, which leaves it as it is.`,
      path,
    ),
} as const;
