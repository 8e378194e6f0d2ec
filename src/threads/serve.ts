import { getPriority, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";

/** A job, as a message to a thread. */
export interface PostedJob {
  /** Number of the job in this thread, from 1. */
  readonly number: number;
  readonly job: unknown;
  /** For this job and those after it, until another message has one. */
  readonly shared?: unknown;
  /** One `JobState`, shared by the thread and the pool. */
  readonly state: Int32Array;
}

/** Either the thread begins a job or the pool reclaims it, never both. The pool can cancel a job that has begun. */
export const JobState = { posted: 0, begun: 1, reclaimed: 2, cancelled: 3 } as const;

/** The message back. */
export interface PostedReply {
  readonly number: number;
  readonly reply: unknown;
}

/** Throws when the pool has cancelled the job under way. */
export type CheckJob = () => void;

/** Ends the work; the thread is about to end. */
class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** How much nicer a thread is than the one that answers calls. */
const niceness = 10;

/**
 * Lets the event loop preempt this thread: with all processors busy it would wait for whole slices of the scheduler at each
 * turn. Only on Linux a priority belongs to a thread (setpriority(2)).
 */
function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, Math.min(19, getPriority(0) + niceness));
  } catch {
    // A container may forbid it.
  }
}

/**
 * Runs the jobs that the pool posts to this thread, in order. `open` makes the function that runs them from
 * `workerData`; it gets each job, and what several jobs share (`Pool.run`).
 */
export function serveJobs<Data, Job>(
  open: (data: Data, check: CheckJob) => (job: Job, shared: unknown) => unknown,
): void {
  if (parentPort === null) return;
  lowerPriority();
  const port = parentPort;
  let current: Int32Array | undefined;
  let shared: unknown;
  const act = open(workerData as Data, () => {
    if (current !== undefined && Atomics.load(current, 0) === JobState.cancelled) throw new Cancelled();
  });
  port.on("message", (message: PostedJob) => {
    const { number, job, state } = message;
    // Also that of a job which the pool has reclaimed is for those after it.
    if ("shared" in message) ({ shared } = message);
    if (Atomics.compareExchange(state, 0, JobState.posted, JobState.begun) !== JobState.posted) return;
    current = state;
    port.postMessage({ number, reply: act(job as Job, shared) } satisfies PostedReply);
  });
}
