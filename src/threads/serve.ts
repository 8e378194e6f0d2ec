import { parentPort, workerData } from "node:worker_threads";

/** A job as it is posted to a thread. */
export interface PostedJob {
  /** Counts the jobs posted to the thread, from 1. */
  readonly number: number;
  readonly job: unknown;
  /** One `JobState`, which the thread and the pool both see. */
  readonly state: Int32Array;
}

/** A job is either begun by the thread or taken back by the pool, and never both. One that is begun can be given up. */
export const JobState = { posted: 0, begun: 1, reclaimed: 2, cancelled: 3 } as const;

/** What a thread posts back. */
export interface PostedReply {
  readonly number: number;
  readonly reply: unknown;
}

/** Throws a `GivenUp` when nobody waits any more for the answer to the job under way. */
export type CheckJob = () => void;

/** The thread is about to end: only the work is not to go on. */
class Cancelled extends Error {
  override readonly name = "GivenUp";
}

/** Answers the jobs that the pool posts to this thread, in order. `open` makes what answers them out of the pool's data. */
export function serveJobs<Data, Job>(open: (data: Data, check: CheckJob) => (job: Job) => unknown): void {
  if (parentPort === null) return;
  const port = parentPort;
  let current: Int32Array | undefined;
  const act = open(workerData as Data, () => {
    if (current !== undefined && Atomics.load(current, 0) === JobState.cancelled) throw new Cancelled();
  });
  port.on("message", ({ number, job, state }: PostedJob) => {
    if (Atomics.compareExchange(state, 0, JobState.posted, JobState.begun) !== JobState.posted) return;
    current = state;
    port.postMessage({ number, reply: act(job as Job) } satisfies PostedReply);
  });
}
