import { Type } from "@sinclair/typebox";
import { UInt } from "../wire.ts";
import { defineFunction } from "./define.ts";
import { JobSummary } from "./job.ts";
import { findOrphans } from "./orphans.ts";
import { AnyValue } from "./target.ts";

const response = Type.Object({ count: UInt(), jobs: Type.Array(JobSummary) }, { title: "ListResponse" });

/** `shell::list`: all jobs, without commands and outputs (specification of shell, section 7.5). */
export const list = defineFunction({
  id: "shell::list",
  description: "List all background jobs",
  effect: "reads",
  request: Type.Object({}),
  published: AnyValue,
  parse: () => ({}),
  response,
  examples: [{ title: "All jobs", request: {} }],
  async handle(_, context) {
    await findOrphans(context);
    return context.jobs.list(context.caller);
  },
});
