import { Type } from "@sinclair/typebox";
import { PlannedTree } from "../../filesystem/overlay/planned-tree.ts";
import type { CoderContext } from "../define.ts";
import { explainInPlan } from "../missing-paths/missing-path.ts";

/** The field `dry_run` of a published function. */
export const DryRun = Type.Boolean({
  default: false,
  since: "0.4.0",
  description: "Check and answer, but change nothing.",
});

/**
 * Returns the context for the entries of a call that makes each on its own. In a dry run they change a plan
 * that nothing carries out, so each entry finds the tree that those before it would leave.
 */
export function contextOfEntries(
  context: CoderContext,
  isTrial: boolean,
  maxBytes = Number.POSITIVE_INFINITY,
): CoderContext {
  if (!isTrial) return context;
  const trial = { ...context, tree: new PlannedTree(context, { maxBytes, isTrial }) };
  return { ...trial, attempt: (entry) => context.attempt(() => explainInPlan(entry, trial)) };
}
