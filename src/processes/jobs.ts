/** Runs programs in the background, whose results callers query later. */
import { randomUUID } from "node:crypto";
import { refusePlainly } from "./plain-refusal.ts";
import { type JobRecord, type JobStatus, type JobSummary, type KillAnswer, summarize } from "./records.ts";
import { createRetention, type Retention, type RetentionLimits } from "./retention.ts";
import type { RunningProgram } from "./running.ts";
import type { Argv } from "./words.ts";

export interface JobLimits extends RetentionLimits {
  /** Most jobs that run at once; 0 refuses all. A killed job counts until nothing of it runs. */
  readonly maxRunning: number;
  /** Milliseconds after which a program is ended; 0 means no limit. */
  readonly maxRunMs: number;
  /** Whether callers see only their own jobs; otherwise every caller sees all. */
  readonly isPrivate: boolean;
}

/** A command and its sender: the caller's worker on the bus, if known. */
export interface JobOrigin {
  readonly argv: Argv;
  readonly owner: string | undefined;
}

/** The result of a command that another worker has run. */
export interface ForwardedResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number | null;
  readonly timed_out: boolean;
}

const cannotBeCancelled =
  "The job counts as killed here, but sandbox::exec cannot be cancelled: in the sandbox it goes on until its timeout_ms is over.";

const wasNotEnded =
  "The job counts as killed, but some of its processes still run: they belong to another user, or the kernel waits for a device. Nobody waits for them.";

/** The table of one worker's jobs, in memory. */
export class Jobs {
  readonly #limits: JobLimits;
  readonly #now: () => number;
  readonly #jobs = new Map<string, Job>();
  readonly #retention: Retention;
  #taken = 0;

  /** `now` returns milliseconds of the Unix epoch. */
  constructor(limits: JobLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
    this.#retention = createRetention(limits, now, (id) => this.#jobs.delete(id));
  }

  /**
   * Takes a slot, then starts a program. Returns the job's id. Throws a plain refusal when no slot is free, and what
   * `start` throws; then there is no job.
   */
  async startProgram(order: JobOrigin, start: () => Promise<RunningProgram>): Promise<string> {
    this.#takeSlot();
    try {
      const running = await start();
      return this.#add(order, () => awaitProgram(running), running);
    } catch (error) {
      this.#taken--;
      throw error;
    }
  }

  /**
   * Takes a slot for a command that another worker runs. Returns the job's id; the result follows. When `forward`
   * rejects, the job fails with the error's message as `stderr`.
   */
  forward(order: JobOrigin, forward: () => Promise<ForwardedResult>): string {
    this.#takeSlot();
    return this.#add(order, () => awaitForwarded(forward), undefined);
  }

  /**
   * The record of a job, with what a running one has written so far only `withRunning`. Throws a plain refusal when there is
   * none that `viewer` may see.
   */
  status(id: string, viewer: string | undefined, { withRunning = false } = {}): JobRecord {
    const { record, running } = this.#find(id, viewer);
    return withRunning && record.status === "running" ? { ...record, ...running?.capture() } : record;
  }

  /** Whether a running job belongs to another caller than `viewer`, one not known to have left. */
  hasForeign(viewer: string | undefined): boolean {
    return [...this.#jobs.values()].some((job) => !this.#isVisible(job, viewer) && !job.isOrphan);
  }

  /** Makes orphans of the jobs whose owner is not among those `present`: every caller may list and end them. */
  disown(present: ReadonlySet<string>): void {
    for (const job of this.#jobs.values()) {
      job.isOrphan = job.owner !== undefined && !present.has(job.owner);
    }
  }

  /** The jobs that `viewer` may see, without commands and output. */
  list(viewer: string | undefined): { readonly jobs: JobSummary[]; readonly count: number } {
    this.#retention.prune();
    const visible = [...this.#jobs.values()].filter((job) => job.isOrphan || this.#isVisible(job, viewer));
    return { jobs: visible.map(({ record }) => summarize(record)), count: visible.length };
  }

  /**
   * Ends a job, a program with its whole session; `killed` is true when nothing of it runs any more. Throws a plain
   * refusal for an unknown job and for one that the operating system protects.
   */
  async kill(id: string, viewer: string | undefined): Promise<KillAnswer> {
    const job = this.#find(id, viewer, "orphans");
    const { status } = job.record;
    if (status !== "running") return { job_id: id, killed: false, status, reason: "not running" };
    if (job.running?.mayEnd() === false) throw refusePlainly.notSignalled(id);
    job.record = { ...job.record, status: "killed", finished_at_ms: this.#now() };
    const killed = { job_id: id, killed: true, status: "killed" } as const;
    if (job.running === undefined) return { ...killed, reason: cannotBeCancelled };
    await job.running.end();
    await job.settled;
    return job.running.isGone ? killed : { ...killed, killed: false, reason: wasNotEnded };
  }

  /** Stops the timers. Their starter ends the programs. */
  close(): void {
    this.#retention.close();
  }

  #takeSlot(): void {
    const { maxRunning } = this.#limits;
    if (this.#taken >= maxRunning) throw refusePlainly.tooManyJobs(maxRunning, this.#taken);
    this.#taken++;
  }

  #add(
    { argv, owner }: JobOrigin,
    work: () => Promise<JobOutcome>,
    running: RunningProgram | undefined,
  ): string {
    const id = `job-${randomUUID()}`;
    const record = newRecord(id, argv, this.#now());
    const job: Job = { record, owner, running, isOrphan: false, settled: Promise.resolve() };
    this.#jobs.set(id, job);
    const stopClock = this.#startClock(job);
    job.settled = work().then((outcome) => {
      stopClock();
      this.#settle(job, outcome);
    });
    return id;
  }

  /** Ends a program when its time is up. */
  #startClock(job: Job): () => void {
    const { maxRunMs } = this.#limits;
    if (maxRunMs === 0 || job.running === undefined) return () => {};
    const timer = setTimeout(() => {
      if (job.record.status !== "running") return;
      job.record = { ...job.record, status: "killed", finished_at_ms: this.#now() };
      void job.running?.end("max_job_secs is over");
    }, maxRunMs).unref();
    return () => clearTimeout(timer);
  }

  /** Completes the record; the status that a kill has set stays. */
  #settle(job: Job, { status, ...outcome }: JobOutcome): void {
    this.#taken--;
    const ending =
      job.record.status === "running"
        ? { status, finished_at_ms: this.#now() }
        : { status: job.record.status };
    job.record = { ...job.record, ...outcome, ...ending };
    this.#retention.add(job.record);
  }

  #find(id: string, viewer: string | undefined, also?: "orphans"): Job {
    const job = this.#jobs.get(id);
    const isAllowed = job && (this.#isVisible(job, viewer) || (also === "orphans" && job.isOrphan));
    if (!isAllowed) throw refusePlainly.noSuchJob(id);
    return job;
  }

  #isVisible(job: Job, viewer: string | undefined): boolean {
    return !this.#limits.isPrivate || job.owner === viewer;
  }
}

interface Job {
  record: JobRecord;
  readonly owner: string | undefined;
  /** The owner has left the bus. */
  isOrphan: boolean;
  /** Undefined when another worker runs the command. */
  readonly running: RunningProgram | undefined;
  /** Resolves when nothing of the job runs any more and its record is final. */
  settled: Promise<void>;
}

type JobOutcome = Partial<JobRecord> & { readonly status: JobStatus };

const newRecord = (id: string, argv: Argv, startedAt: number): JobRecord => ({
  id,
  argv,
  started_at_ms: startedAt,
  finished_at_ms: null,
  status: "running",
  exit_code: null,
  stdout: "",
  stderr: "",
  stdout_truncated: false,
  stderr_truncated: false,
});

/** A job lasts as long as any process holds its outputs, or until it is ended. */
async function awaitProgram(running: RunningProgram): Promise<JobOutcome> {
  await Promise.race([Promise.all([running.exited, running.drained]), running.ended]);
  await running.end();
  return { ...running.capture(), ...statusOf(running.exitCode) };
}

async function awaitForwarded(forward: () => Promise<ForwardedResult>): Promise<JobOutcome> {
  try {
    const { stdout, stderr, exit_code, timed_out } = await forward();
    const ending = timed_out ? ({ exit_code, status: "killed" } as const) : statusOf(exit_code);
    return { stdout, stderr, ...ending };
  } catch (error) {
    return { stderr: error instanceof Error ? error.message : String(error), status: "failed" };
  }
}

const statusOf = (exitCode: number | null) =>
  ({ exit_code: exitCode, status: exitCode === 0 ? "finished" : "failed" }) as const;
