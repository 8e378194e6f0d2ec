import { Type } from "@sinclair/typebox";
import { inOneStep } from "../base/scheduling/time-slice.ts";
import { UInt } from "../base/schema/fragments.ts";
import { defineShellFunction } from "./define.ts";
import { JobSummarySchema } from "./job.ts";
import { renderCommand, renderEnding } from "./job-text.ts";
import { findOrphans } from "./orphans.ts";
import { AnyValue } from "./target.ts";

const response = Type.Object(
  { count: UInt(), jobs: Type.Array(JobSummarySchema) },
  { title: "ListResponse" },
);

/** `shell::list`: all jobs, without commands and outputs (shell §7.5). */
export const list = defineShellFunction({
  id: "shell::list",
  publishedIn: "shell 0.3.5",
  description: "List all background jobs",
  brief: "List the jobs with their command lines.",
  effect: "reads",
  paths: [],
  touchesNoFiles: true,
  request: Type.Object({}),
  published: AnyValue,
  parse: () => inOneStep(() => ({})),
  response,
  examples: [{ title: "All jobs", request: {} }],
  async handle(_, context) {
    await findOrphans(context);
    const { jobs, caller, profile } = context;
    return profile.followed_jobs ? jobs.listInDetail(caller) : jobs.list(caller);
  },
  *render({ jobs }) {
    const lines: string[] = [];
    for (const job of jobs) {
      const command = job.argv === undefined ? [] : [renderCommand(job.argv)];
      lines.push([job.id, renderEnding(job), ...command].join("  "));
      yield;
    }
    return lines.join("\n") || "[no jobs]";
  },
});
