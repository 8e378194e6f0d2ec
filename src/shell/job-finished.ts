/** Calls functions of other workers when jobs end. */
import { type Static, Type } from "@sinclair/typebox";
import { refuse } from "../base/errors.ts";
import { Int32, Nullable, Redelivered, UInt64 } from "../base/schema/fragments.ts";
import { Mismatch, validate } from "../base/schema/validate.ts";
import type { Fire, TriggerDefinition, TriggerType } from "../calls/contract/trigger.ts";
import { JobStatusSchema } from "./job.ts";
import type { EndedJob, Jobs } from "./programs/jobs.ts";

const since = "0.4.0";

const config = Type.Object(
  {
    job_id: Type.Optional(
      Nullable(Type.String({ minLength: 1 }), {
        description:
          "Only this job, which may start later; if it has ended already, its event comes at once. Default: each job that ends from now on.",
      }),
    ),
  },
  { title: "JobFinishedConfig" },
);

const event = Type.Object(
  {
    argv: Type.Array(Type.String()),
    duration_ms: UInt64(),
    redelivered: Type.Optional(Redelivered),
    exit_code: Nullable(Int32()),
    finished_at_ms: UInt64(),
    job_id: Type.String(),
    signal: Type.Optional(Type.String({ description: "The signal that ended the program." })),
    started_at_ms: UInt64(),
    status: JobStatusSchema,
  },
  { title: "JobFinishedEvent" },
);

/** `shell::job-finished`: calls the function when a background job has ended (shell §15). */
export const jobFinished: TriggerDefinition = {
  id: "shell::job-finished",
  since,
  description:
    "Calls the function once when a background job has ended: finished, killed or failed. With `job_id` for that job, which may have ended already; without it for each that ends from then on. shell::status has the output.",
  config,
  event,
};

/** The milliseconds between two attempts to call a missing function, and the number of attempts. */
const retries = { pauseMs: 1000, most: 30 } as const;

/** The position of a trigger for one job that has had its event. */
const delivered = "delivered";

/** Returns the trigger type for the jobs of a worker. `isPrivate` is `private_jobs`. */
export const jobFinishedOver = (jobs: Jobs, isPrivate: boolean): TriggerType => ({
  definition: jobFinished,
  async open(value, fire, from) {
    const { job_id } = parseConfig(value);
    if (job_id === undefined || job_id === null) {
      if (isPrivate)
        throw refuse.badPayload("job_id", "is missing; with private_jobs a trigger names its job");
      return followAll(jobs, fire, from);
    }
    return from === delivered ? () => delivered : followOne(jobs, job_id, fire);
  },
});

function followOne(jobs: Jobs, id: string, fire: Fire): () => string {
  const stop = new AbortController();
  let place = "";
  const deliver = (job: EndedJob) => {
    if (job.record.id !== id || place === delivered) return;
    place = delivered;
    unsubscribe();
    void deliverTo(fire, job, stop.signal);
  };
  const unsubscribe = jobs.onEnded(deliver);
  for (const job of jobs.endedAfter(0)) deliver(job);
  return () => {
    unsubscribe();
    stop.abort();
    return place;
  };
}

/** Delivers events one after the other, beginning with those since the trigger ended last. */
function followAll(jobs: Jobs, fire: Fire, from: string | undefined): () => string {
  const stop = new AbortController();
  let last = from === undefined ? jobs.endings : Number(from);
  let queue = Promise.resolve();
  const deliver = (job: EndedJob) => {
    queue = queue.then(async () => {
      if (stop.signal.aborted) return;
      await deliverTo(fire, job, stop.signal);
      last = job.ending;
    });
  };
  for (const job of jobs.endedAfter(last)) deliver(job);
  const unsubscribe = jobs.onEnded(deliver);
  return () => {
    unsubscribe();
    stop.abort();
    return String(last);
  };
}

/**
 * Calls the function, and tries again while it does not exist. `fire` itself repeats a call without an
 * answer.
 */
async function deliverTo(fire: Fire, { record, signal }: EndedJob, stopped: AbortSignal): Promise<void> {
  const { id, argv, status, exit_code, started_at_ms, finished_at_ms } = record;
  const finished = finished_at_ms ?? started_at_ms;
  const payload = {
    job_id: id,
    argv: [...argv],
    status,
    exit_code,
    started_at_ms,
    finished_at_ms: finished,
    duration_ms: Math.max(0, finished - started_at_ms),
    ...(signal !== null && { signal }),
  } satisfies Static<typeof event>;
  for (let attempt = 0; attempt < retries.most && !stopped.aborted; attempt++) {
    const sent = await fire(payload);
    if ((typeof sent === "string" ? sent : await sent.outcome) !== "absent") return;
    await new Promise((resolve) => setTimeout(resolve, retries.pauseMs).unref());
  }
}

function parseConfig(value: unknown): Static<typeof config> {
  try {
    return validate(config, value, { unknownKeys: "refuse" });
  } catch (error) {
    if (error instanceof Mismatch) throw refuse.badPayload(error.field, error.problem);
    throw error;
  }
}
