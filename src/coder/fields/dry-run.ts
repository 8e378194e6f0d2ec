import { Type } from "@sinclair/typebox";

/** The field `dry_run` of a published function. */
export const DryRun = Type.Boolean({
  default: false,
  since: "0.4.0",
  description: "Check and answer, but change nothing.",
});
