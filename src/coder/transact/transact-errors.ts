import { quoteShort, Refusal, type RefusalDetails } from "../../base/errors.ts";

/** Refusals of calls that make several changes as one. */
export const refuseTransacting = {
  /** No folder outside of the tree can keep the records that a crash is survived by. */
  unavailable: (): Refusal =>
    new Refusal(
      "io",
      "This worker has no folder for the records of transactions, without which a crash would leave half of one. Nothing was changed. Make the changes by calls of the single functions, or ask the user to set XDG_STATE_HOME to a folder outside of base_path.",
    ),

  /**
   * A change of several that are made together or not at all; `place` is such as `Change 2 of 4 ("a.txt")`.
   */
  inPlace: ({ reason, message, path, isBelowFile, details }: Refusal, place: string | undefined): Refusal => {
    const problem = message.replace(/ Nothing was (?:changed|written|removed|moved or copied)\./, "");
    const sentence = place === undefined ? problem : `${place}: ${problem}`;
    return new Refusal(reason, `Nothing was changed. ${sentence}`, path, {
      isBelowFile,
      ...(details && { details }),
    });
  },

  tooManyChanges: (count: number, most: number): Refusal =>
    new Refusal(
      "bad-input",
      `\`changes\` holds ${count} changes, and a call makes at most ${most}. Send them in several calls.`,
    ),

  largePlan: (bytes: number, most: number): Refusal =>
    new Refusal(
      "too-large",
      `A plan for these changes would take ${bytes} bytes of memory, and one may take ${most}. Nothing was changed. Send fewer or smaller changes, or the same call without \`dry_run\`.`,
    ),

  badPlan: (plan: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(plan.slice(0, 60))} is not a plan. Send the 32 hex digits that a dry run has answered as \`plan\`.`,
    ),

  /** One sentence for all of these: a plan of someone else is none. */
  noPlan: (plan: string): Refusal =>
    new Refusal(
      "revision-mismatch",
      `There is no plan ${quoteShort(plan)} of yours: it was carried out, is older than 10 minutes, or made room for newer ones, of which 64 are kept. Nothing was changed. Repeat the dry run, and send the plan that it answers.`,
    ),

  stalePlan: (plan: string, details: RefusalDetails): Refusal =>
    new Refusal(
      "revision-mismatch",
      `Files changed since the plan ${quoteShort(plan)} was made. Nothing was changed. Repeat the dry run, check its result, and commit the new plan.`,
      undefined,
      { details },
    ),
} as const;
