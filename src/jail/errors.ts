import { quoteShort, Refusal } from "../errors.ts";

/** What only the jail, and those who go through what it holds, refuse. */
export const refuseJailed = {
  /** Callers may read it, so the sentence need not hide that it is there. */
  protected: (path: string): Refusal =>
    new Refusal(
      "protected",
      `The worker's configuration protects ${quoteShort(path)}, or something in it, from every change, and nothing was changed; it can be read. Choose another path, or ask the operator to make the change.`,
      path,
    ),
} as const;
