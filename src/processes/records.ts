/** The record of a background job, as on the wire (shell §7). */
import type { Captured } from "./running.ts";

/**
 * "finished": ended with code 0. "failed": ended otherwise. "killed": `shell::kill` was accepted, or the time of a
 * forwarded job was up.
 */
export type JobStatus = "running" | "finished" | "killed" | "failed";

export interface JobRecord extends Captured {
  readonly id: string;
  readonly argv: readonly string[];
  /** Milliseconds of the Unix epoch. */
  readonly started_at_ms: number;
  /** Null while the job runs. */
  readonly finished_at_ms: number | null;
  readonly status: JobStatus;
  /** Null while the job runs and when a signal ended it. */
  readonly exit_code: number | null;
}

/** A record without the parts that are secret or long. */
export type JobSummary = Omit<JobRecord, "argv" | "stdout" | "stderr">;

export interface KillAnswer {
  readonly job_id: string;
  readonly killed: boolean;
  readonly status: JobStatus;
  readonly reason?: string;
}

/** Leaves out the command and its output: every caller may see the list. */
export function summarize({ argv, stdout, stderr, ...summary }: JobRecord): JobSummary {
  return summary;
}
