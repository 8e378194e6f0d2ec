import { quoteShort, Refusal } from "../../base/errors.ts";

/** The refusals of changes that are made together. */
export const refusePlan = {
  tooMuch: (limit: number): Refusal =>
    new Refusal(
      "too-large",
      `The files that these changes create and edit exceed max_transaction_bytes (${limit} bytes) in total. Send the changes in several calls.`,
    ),

  /** Refuses to copy a folder with many entries one by one, since other calls would wait. */
  manyEntries: (requested: string, most: number): Refusal =>
    new Refusal(
      "bad-input",
      `The folder ${quoteShort(requested)} has more than ${most} entries, and is both copied and changed by one call. Copy it first, and change it in a call of its own.`,
      requested,
    ),
} as const;
