import { Refusal } from "../errors.ts";

/** The refusals of changes that are made together. */
export const refusePending = {
  tooMuch: (limit: number): Refusal =>
    new Refusal(
      "too-large",
      `The files that these changes make and edit are larger than max_transaction_bytes (${limit} bytes) together. Send them in several calls.`,
    ),
} as const;
