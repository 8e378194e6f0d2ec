import { Type } from "@sinclair/typebox";
import { Nullable } from "../base/schema/fragments.ts";
import { parsePlainly } from "./command.ts";
import { defineShellFunction } from "./define.ts";
import { JobStatusSchema, JobSummarySchema, jobId } from "./job.ts";
import { renderEnding } from "./job-text.ts";
import { findOrphans } from "./orphans.ts";

const request = Type.Object(jobId, { title: "KillRequest" });

const response = Type.Object(
  {
    job_id: Type.String(),
    killed: Type.Boolean(),
    reason: Type.Optional(Nullable(Type.String())),
    status: JobStatusSchema,
    job: Type.Optional({ ...JobSummarySchema, since: "0.4.0" }),
  },
  { title: "KillResponse" },
);

/** `shell::kill`: ends a job with all it started (shell §7.4). */
export const kill = defineShellFunction({
  id: "shell::kill",
  publishedIn: "shell 0.3.5",
  description: "Kill a running background job",
  brief: "End a job and everything it started.",
  effect: "writes",
  paths: [],
  touchesNoFiles: true,
  isIdempotent: true,
  request,
  parse: (payload) => parsePlainly(request, payload),
  response,
  examples: [{ title: "A job", request: { job_id: "job-5f0c1a2e-8d3b-4c6f-9a7e-2b1d0c9f8e7a" } }],
  async handle({ job_id }, context) {
    await findOrphans(context);
    const { jobs, caller, profile } = context;
    const answer = await jobs.kill(job_id, caller);
    return profile.followed_jobs ? { ...answer, job: jobs.summary(job_id, caller) } : answer;
  },
  render({ job_id: id, killed, reason, status, job }) {
    const ending = job === undefined ? status : renderEnding(job);
    if (killed) return `[${id}: ${ending}${reason ? `; ${reason}` : ""}]`;
    return status === "killed" && reason !== "not running"
      ? `[${id}: ${reason}]`
      : `[${id} had ended already: ${ending}]`;
  },
});
