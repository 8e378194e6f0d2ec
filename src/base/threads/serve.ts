import { getPriority, setPriority } from "node:os";
import { openParent } from "./parent.ts";

/** A job, as a message to a thread. */
export interface PostedJob {
  /** The number of the job in this thread, from 1. */
  readonly number: number;
  readonly job: unknown;
  /** The shared data for this job and those after it, until another message has some. */
  readonly shared?: unknown;
  /** One `JobState`, shared by the thread and the pool. */
  readonly state: Int32Array;
}

/**
 * The states of a job. Either the thread begins it or the pool reclaims it, never both. The pool can cancel a
 * job that has begun.
 */
export const JobState = { posted: 0, begun: 1, reclaimed: 2, cancelled: 3 } as const;

/** The message that returns a reply. */
export interface PostedReply {
  /** The number of the job; 0 for the message of a thread that is ready for its first. */
  readonly number: number;
  readonly reply: unknown;
}

/** Throws if the pool has cancelled the current job. */
export type CheckJob = () => void;

/** Thrown to end the work of a thread that is about to end. */
class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** The niceness of a thread relative to the one that answers calls. */
const niceness = 10;

/**
 * Lets the event loop preempt this thread: with all processors busy it would wait for whole slices of the
 * scheduler at each turn. Only on Linux does a priority belong to a thread (setpriority(2)).
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
 * Runs the jobs that the pool posts to this thread, in order. `open` makes the function that runs them; it
 * gets each job, and the data that several jobs share (`Pool.run`).
 */
export function serveJobs<Job>(open: (check: CheckJob) => (job: Job, shared: unknown) => unknown): void {
  const parent = openParent();
  if (parent === undefined) return;
  lowerPriority();
  let current: Int32Array | undefined;
  let shared: unknown;
  const act = open(() => {
    if (current !== undefined && Atomics.load(current, 0) === JobState.cancelled) throw new Cancelled();
  });
  parent.onMessage((message) => {
    const { number, job, state } = message as PostedJob;
    // Shared data of a job that the pool has reclaimed still applies to later jobs.
    if ("shared" in message) ({ shared } = message as PostedJob);
    if (Atomics.compareExchange(state, 0, JobState.posted, JobState.begun) !== JobState.posted) return;
    current = state;
    parent.postMessage({ number, reply: act(job as Job, shared) } satisfies PostedReply);
  });
  parent.postMessage({ number: 0, reply: undefined } satisfies PostedReply);
}
