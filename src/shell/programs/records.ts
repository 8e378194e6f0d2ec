/** The record of a background job, as on the wire (shell §7). */
import type { Captured } from "./running.ts";

/**
 * "finished": ended with code 0. "failed": ended otherwise. "killed": `shell::kill` was accepted, or the time
 * of a forwarded job was up.
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

/** The remarks about an ended command beside its output. */
export interface Remarks {
  /** The changes made while it ran. */
  readonly changed?: string;
  /** The checkpoint that undoes the changes of held files. */
  readonly checkpoint?: number;
  /** The changes that cannot be undone. */
  readonly not_held?: string[];
  /** The rules of the sandbox that it seems to have met. */
  readonly notes?: string[];
}

/** The fields that came after shell 0.3.5. */
export interface JobEnding extends Remarks {
  /** The signal that ended its program, such as `SIGSEGV`; null while it runs and when it exited. */
  readonly signal: string | null;
}

/** A record without the parts that are secret or long. */
export type JobSummary = Omit<JobRecord, "argv" | "stdout" | "stderr">;

/** A summary for those who may see commands; it has a signal if one ended the program. */
export type DetailedSummary = JobSummary & Remarks & { readonly argv: string[]; readonly signal?: string };

export interface KillAnswer {
  readonly job_id: string;
  readonly killed: boolean;
  readonly status: JobStatus;
  readonly reason?: string;
}

/** Leaves out the command and its output: every caller may see the list. */
export function summarize(record: JobRecord & JobEnding): JobSummary {
  const { argv, stdout, stderr, signal, changed, checkpoint, not_held, notes, ...summary } = record;
  return summary;
}

/** Returns the part of a record that came later. */
export const remarksOf = ({
  changed,
  checkpoint,
  not_held,
  notes,
}: { readonly [Key in keyof Remarks]: Remarks[Key] | undefined }): Remarks => ({
  ...(changed !== undefined && { changed }),
  ...(checkpoint !== undefined && { checkpoint }),
  ...(not_held !== undefined && { not_held }),
  ...(notes !== undefined && { notes }),
});

export const summarizeInDetail = (record: JobRecord & JobEnding): DetailedSummary => ({
  ...summarize(record),
  argv: [...record.argv],
  ...(record.signal !== null && { signal: record.signal }),
  ...remarksOf(record),
});
