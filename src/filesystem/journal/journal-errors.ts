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

  undoNotPermitted: (path: string, seq: number): Refusal =>
    new Refusal(
      "permission",
      `Checkpoint ${seq} changed ${quoteShort(path)}, and the operating system does not permit changing that back. Nothing was undone. Ask the user to change its permissions, send \`paths\` without it, or \`force\`, which leaves it as it is.`,
      path,
    ),

  /** A path in a root whose folder is gone, or was not there at the start. */
  undoInGoneRoot: (path: string, root: string, seq: number): Refusal =>
    new Refusal(
      "io",
      `Checkpoint ${seq} changed ${quoteShort(path)}, and the folder of the root ${quoteShort(root)} is not there. Nothing was undone. Ask the user to restore it, send \`paths\` without it, or \`force\`, which leaves it out.`,
      path,
    ),
} as const;
