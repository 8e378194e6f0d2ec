import { Type } from "@sinclair/typebox";
import { Nullable } from "../schema/fragments.ts";
import { parsePlainly } from "./command.ts";
import { defineShellFunction } from "./define.ts";
import { JobStatusSchema, jobId } from "./job.ts";
import { findOrphans } from "./orphans.ts";

const request = Type.Object(jobId, { title: "KillRequest" });

const response = Type.Object(
  {
    job_id: Type.String(),
    killed: Type.Boolean(),
    reason: Type.Optional(Nullable(Type.String())),
    status: JobStatusSchema,
  },
  { title: "KillResponse" },
);

/** `shell::kill`: ends a job with all it started (shell §7.4). */
export const kill = defineShellFunction({
  id: "shell::kill",
  publishedIn: "shell 0.3.5",
  description: "Kill a running background job",
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
    return context.jobs.kill(job_id, context.caller);
  },
});
