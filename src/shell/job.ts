/** Schemas of background jobs (shell §7.1). */
import { Type } from "@sinclair/typebox";
import { Int32, Named, Nullable, UInt64 } from "../base/schema/fragments.ts";

export const JobStatusSchema = Type.Union(
  [Type.Literal("running"), Type.Literal("finished"), Type.Literal("killed"), Type.Literal("failed")],
  { $id: "JobStatus" },
);

const summaryFields = {
  exit_code: Type.Optional(Nullable(Int32())),
  finished_at_ms: Type.Optional(Nullable(UInt64())),
  id: Type.String(),
  started_at_ms: UInt64(),
  status: JobStatusSchema,
  stderr_truncated: Type.Boolean(),
  stdout_truncated: Type.Boolean(),
};

export const JobRecordSchema = Named("JobRecord", {
  ...summaryFields,
  argv: Type.Array(Type.String()),
  stderr: Type.String(),
  stdout: Type.String(),
});

/** The remarks about an ended command beside its output, in the profile `agent`. */
export const remarkFields = {
  changed: Type.Optional(
    Type.String({
      since: "0.4.0",
      description: "What was changed while it ran, such as `1 file (a.txt), .git`.",
    }),
  ),
  checkpoint: Type.Optional(
    UInt64({
      since: "0.4.0",
      description:
        "The checkpoint to send to coder::undo, which undoes the changes of files that `snapshot` names.",
    }),
  ),
  not_held: Type.Optional(
    Type.Array(Type.String(), {
      since: "0.4.0",
      description: "With `snapshot`: changes that cannot be undone, and why.",
    }),
  ),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      since: "0.4.0",
      description: "Sandbox rules that the command seems to have met, judging by its output.",
    }),
  ),
};

/** The fields that came later, in the profile `agent`. */
const laterFields = {
  argv: Type.Optional(Type.Array(Type.String(), { since: "0.4.0" })),
  signal: Type.Optional(Type.String({ since: "0.4.0" })),
  ...remarkFields,
};

export const JobSummarySchema = Type.Object(
  { ...summaryFields, ...laterFields },
  {
    $id: "JobSummary",
    description:
      "`shell::list` returns one `JobSummary` per record. argv, stdout, and stderr are deliberately omitted: the global JOBS map is process-wide and has no per-caller scope, so any caller could otherwise read every other caller's command line and captured output (which may embed credentials). Full records remain reachable via `shell::status <job_id>` — the random UUID acts as an unguessable capability for that record.",
  },
);

/** The field that names a job. */
export const jobId = { job_id: Type.String() };
