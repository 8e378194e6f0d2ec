import { quoteShort, Refusal, type RefusalDetails } from "../../errors.ts";

/** Refusals of calls that make several changes as one. */
export const refuseTransacting = {
  /** No folder outside of the tree can keep the records that a crash is survived by. */
  unavailable: (): Refusal =>
    new Refusal(
      "io",
      "This worker has no folder for the records of transactions, without which a crash would leave half of one; make the changes by calls of the single functions, or ask the operator to set XDG_STATE_HOME to a folder outside of base_path.",
    ),

  tooManyChanges: (count: number, most: number): Refusal =>
    new Refusal(
      "bad-input",
      `The field changes holds ${count} changes, and a call makes at most ${most}; send them in several calls.`,
    ),

  badPlan: (plan: string): Refusal =>
    new Refusal(
      "bad-input",
      `The plan ${quoteShort(plan.slice(0, 60))} is none; send the 32 hex digits that a dry run has answered as plan.`,
    ),

  /** One sentence for all of these: a plan of someone else is none. */
  noPlan: (plan: string): Refusal =>
    new Refusal(
      "revision-mismatch",
      `There is no plan ${quoteShort(plan)} of yours: it was carried out, is older than 10 minutes, or had to make room for newer ones, and nothing was changed; repeat the dry run, and send the plan that it answers.`,
    ),

  stalePlan: (plan: string, details: RefusalDetails): Refusal =>
    new Refusal(
      "revision-mismatch",
      `The files are not what the plan ${quoteShort(plan)} was made for, and nothing was changed; repeat the dry run, look at what it answers, and send the plan of that.`,
      undefined,
      { details },
    ),
} as const;
