import { quoteShort, Refusal } from "../../base/errors.ts";

/** The result of a call for the entry at `from`, as error messages name it. */
export type Transfer = "moved" | "copied";

/** Refusals of moves and copies. */
export const refuseMove = {
  base: (done: Transfer): Refusal =>
    new Refusal(
      "bad-input",
      `The base folder itself cannot be ${done}; name the files and folders in it instead.`,
    ),

  folderOntoFile: (from: string, to: string): Refusal =>
    new Refusal(
      "bad-input",
      `A file is at ${quoteShort(to)}, and the folder ${quoteShort(from)} cannot replace it; send a "to" where nothing is.`,
    ),

  ontoItsEnd: (from: string, to: string, done: Transfer): Refusal =>
    new Refusal(
      "bad-input",
      `The link ${quoteShort(from)} leads to ${quoteShort(to)} and cannot be ${done} onto it; send a "to" that is another path.`,
    ),

  intoItself: (from: string, done: Transfer): Refusal =>
    new Refusal(
      "bad-input",
      `The folder ${quoteShort(from)} cannot be ${done} into itself; send a "to" that is not inside it.`,
    ),

  /** Refuses a move in several steps of anything but files and links. */
  cannotCross: (from: string, into: "file system" | "folder"): Refusal =>
    new Refusal(
      "io",
      `${quoteShort(from)} cannot be moved into another ${into} in one step here; copy it with coder::copy, and delete the old one when that is done.`,
      from,
    ),

  /** Refuses a move whose source changed, which is noticed only after the copy. */
  changed: ({ from, to }: { readonly from: string; readonly to: string }): Refusal =>
    new Refusal(
      "io",
      `${quoteShort(from)} was changed by another program while it was moved to another file system; it stays as it is, and a copy of what it was before is at ${quoteShort(to)}: read both, and delete one.`,
      from,
    ),

  /** Refuses to copy an entry without content of its own. */
  specialFile: (from: string): Refusal =>
    new Refusal(
      "wrong-kind",
      `${quoteShort(from)} is a FIFO, a socket or a device, and only files, links and folders can be copied; name one of these, or move it with coder::move.`,
      from,
    ),

  holdsSpecialFile: (from: string): Refusal =>
    new Refusal(
      "wrong-kind",
      `The folder ${quoteShort(from)} holds a FIFO, a socket or a device, which cannot be copied; copy what lies beside it by its own path, or move the folder with coder::move.`,
      from,
    ),

  /** Like `holdsSpecialFile`, but for a move into another root. */
  specialFileStays: (from: string): Refusal =>
    new Refusal(
      "wrong-kind",
      `The folder ${quoteShort(from)} holds a FIFO, a socket or a device, which cannot be moved into another root; delete it first, or move what lies beside it by its own path.`,
      from,
    ),

  changedMeanwhile: (from: string, to: string): Refusal =>
    new Refusal(
      "io",
      `${quoteShort(from)} was changed by another program while it was moved into another root, and stays; ${quoteShort(to)} has a copy of what it was before. Compare the two, and delete one.`,
      from,
    ),

  changedDuringCopy: (from: string): Refusal =>
    new Refusal(
      "io",
      `Another program renamed entries of the folder ${quoteShort(from)} while it was copied, so that the copy lacked them. Nothing was copied. Repeat the call.`,
      from,
    ),

  changedInTransaction: (from: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(from)} is moved into another root after earlier changes of the same call in it, which cannot be one; move it in a call of its own.`,
      from,
    ),

  holdsLargeFile: (from: string, limit: { readonly key: string; readonly bytes: number }): Refusal =>
    new Refusal(
      "too-large",
      `The folder ${quoteShort(from)} holds a file larger than ${limit.key} (${limit.bytes} bytes). Nothing was moved or copied. Copy what lies beside it by its own path, or ask the user to raise the limit.`,
      from,
    ),
} as const;
