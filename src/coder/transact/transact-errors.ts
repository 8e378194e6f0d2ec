import { quoteShort, Refusal } from "../../base/errors.ts";
import { furtherFailuresOf } from "./further-failures.ts";

/** The reason why a plan cannot be carried out. */
export interface Staleness {
  readonly change?: unknown;
  readonly paths?: readonly string[];
}

/** Maximum paths that a refusal names. */
const maxNamed = 3;

/** Refusals of calls that make several changes as one. */
export const refuseTransacting = {
  /** No folder outside the tree can hold the crash-recovery records. */
  unavailable: (): Refusal =>
    new Refusal(
      "io",
      "There is no folder for transaction records, so a crash could leave a transaction half done. Nothing was changed. Make the changes in separate calls, or ask the user to set XDG_STATE_HOME to a folder outside base_path.",
    ),

  /**
   * Turns the refusal of one of several changes into that of the whole call. `place` names the change, such
   * as `Change 2 of 4 ("a.txt")`, and `placeOf` the changes that fail too.
   */
  inPlace: (refusal: Refusal, place: string | undefined, placeOf: (index: number) => string): Refusal => {
    const { reason, path, isBelowFile, details } = refusal;
    const problem = withoutConsequence(refusal.message);
    const sentence = place === undefined ? problem : `${place}: ${problem}`;
    const failures = furtherFailuresOf(refusal).map(({ change, message }) => ({
      ...(change !== undefined && { change }),
      message: `${change === undefined ? "" : `${placeOf(change)}: `}${withoutConsequence(message)}`,
    }));
    return new Refusal(reason, `Nothing was changed. ${sentence}`, path, {
      isBelowFile,
      ...(details && { details: { ...details, ...(failures.length > 0 && { failures }) } }),
    });
  },

  tooManyChanges: (count: number, most: number): Refusal =>
    new Refusal(
      "bad-input",
      `\`changes\` has ${count} entries, and a call takes at most ${most}. Send them in several calls.`,
    ),

  largePlan: (bytes: number, most: number): Refusal =>
    new Refusal(
      "too-large",
      `A plan for these changes would take ${bytes} bytes of memory; the limit is ${most}. Nothing was changed. Send fewer or smaller changes, or the same call without \`dry_run\`.`,
    ),

  badPlan: (plan: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(plan.slice(0, 60))} is not a plan. Send the 32 hex digits of \`plan\` from the answer of a dry run.`,
    ),

  /** Uses one sentence for all cases, so that it does not reveal the plans of others. */
  noPlan: (plan: string): Refusal =>
    new Refusal(
      "revision-mismatch",
      `You have no plan ${quoteShort(plan)}: it was committed already, is older than 10 minutes, was dropped for newer plans (64 are kept) or by a restart, or belongs to another caller. Nothing was changed. Repeat the dry run, and send its \`plan\`.`,
    ),

  /** Names the first change that is refused now, or the first paths that have changed. */
  stalePlan: (plan: string, { change, paths = [] }: Staleness): Refusal => {
    const named = paths.slice(0, maxNamed);
    const count = paths.length > maxNamed ? `: ${paths.length}, the first ${maxNamed} in \`paths\`` : "";
    const details = { ...(change !== undefined && { change }), ...(named.length > 0 && { paths: named }) };
    return new Refusal(
      "revision-mismatch",
      `Files changed since the plan ${quoteShort(plan)} was made${count}. Nothing was changed. Repeat the dry run, check its result, and commit the new plan.`,
      undefined,
      { details },
    );
  },
} as const;

/** Removes what the refusal of the whole call says once. */
const withoutConsequence = (message: string): string =>
  message.replace(/ Nothing was (?:changed|written|removed|moved or copied)\./, "");
