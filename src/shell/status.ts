import { Type } from "@sinclair/typebox";
import { parsePlainly } from "./command.ts";
import { defineShellFunction } from "./define.ts";
import { JobRecordSchema, jobId } from "./job.ts";

const request = Type.Object(jobId, { title: "StatusRequest" });

const response = Type.Object({ job: JobRecordSchema }, { title: "StatusResponse" });

/** `shell::status`: one job, with its command and its output (shell §7.3). */
export const status = defineShellFunction({
  id: "shell::status",
  publishedIn: "shell 0.3.5",
  description: "Get status of a background job",
  effect: "reads",
  paths: [],
  touchesNoFiles: true,
  request,
  parse: (payload) => parsePlainly(request, payload),
  response,
  examples: [{ title: "A job", request: { job_id: "job-5f0c1a2e-8d3b-4c6f-9a7e-2b1d0c9f8e7a" } }],
  handle: ({ job_id }, { jobs, caller, profile }) => ({
    job: jobs.status(job_id, caller, { withRunning: profile["status.running_output"] }),
  }),
});
