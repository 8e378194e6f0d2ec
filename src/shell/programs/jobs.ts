/** Runs programs in the background, whose results callers query later. */
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { OutputLog, type OutputLogOptions } from "./output-log.ts";
import { refusePlainly } from "./plain-refusal.ts";
import {
  type DetailedSummary,
  type JobEnding,
  type JobRecord,
  type JobStatus,
  type JobSummary,
  type KillAnswer,
  type Remarks,
  summarize,
  summarizeInDetail,
} from "./records.ts";
import { createRetention, type Retention, type RetentionLimits } from "./retention.ts";
import type { Captured, RunningProgram } from "./running.ts";
import type { Argv } from "./words.ts";

export interface JobLimits extends RetentionLimits {
  /** Maximum concurrent jobs; 0 refuses all. A killed job counts until none of its processes runs. */
  readonly maxRunning: number;
  /** Milliseconds after which a program is ended; 0 means no limit. */
  readonly maxRunMs: number;
  /** Whether callers see only their own jobs; otherwise every caller sees all. */
  readonly isPrivate: boolean;
  /**
   * Whether ids are `job-1`, `job-2` and so on, which models copy without errors; otherwise no caller can
   * guess them.
   */
  readonly hasShortIds?: boolean;
  /** The size and the place of the kept output of each job. */
  readonly output?: OutputLogOptions;
}

/** A command and its sender: the caller's worker on the bus, if known. */
export interface JobOrigin {
  readonly argv: Argv;
  readonly owner: string | undefined;
  /** The id that the sender has chosen, if any; otherwise one is generated. */
  readonly id?: string | undefined;
}

/** A job, as seen by those who follow it. */
export interface FollowedJob {
  readonly record: JobRecord & JobEnding;
  readonly log: OutputLog;
  /** Resolves when none of the job's processes runs and its record is final. */
  readonly settled: Promise<void>;
}

/** A background job that has ended with all its processes. */
export interface EndedJob {
  readonly record: JobRecord;
  readonly signal: string | null;
  /** Its number among all ended jobs, from 1. */
  readonly ending: number;
}

/** A command in the foreground that has ended. */
export interface EndedCommand extends Pick<JobRecord, "exit_code">, JobEnding, ForwardedOutputs {
  readonly log: OutputLog;
  readonly duration_ms: number;
  readonly timed_out: boolean;
}

type ForwardedOutputs = Pick<JobRecord, "stdout" | "stderr" | "stdout_truncated" | "stderr_truncated">;

/** The result of a command that another worker has run. */
export interface ForwardedResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number | null;
  readonly timed_out: boolean;
}

const defaultOutput = (): OutputLogOptions => ({ maxBytes: 64 * 1024 * 1024, temporaryFolder: tmpdir() });

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
  /** The ids of jobs that are being started. */
  readonly #reserved = new Set<string>();
  readonly #listeners = new Set<(job: EndedJob) => void>();
  #endings = 0;
  #taken = 0;
  #numbered = 0;

  /** `now` returns milliseconds of the Unix epoch. */
  constructor(limits: JobLimits, now: () => number = Date.now) {
    this.#limits = limits;
    this.#now = now;
    this.#retention = createRetention(limits, now, (id) => {
      this.#jobs.get(id)?.log.drop();
      this.#jobs.delete(id);
    });
  }

  /** Opens a log, for a command whose whole output may be read later. */
  openLog(): OutputLog {
    return new OutputLog(this.#limits.output ?? defaultOutput());
  }

  /**
   * Takes a slot, then starts a program, whose outputs go into the log. Returns the job's id. Throws a plain
   * refusal if no slot is free or the chosen id is taken, or the error of `start`; then there is no job.
   * `remark` is called when the job has ended.
   */
  async startProgram(
    order: JobOrigin,
    start: (log: OutputLog) => Promise<RunningProgram>,
    remark?: (output: Captured) => Promise<Remarks>,
  ): Promise<string> {
    const id = this.#reserve(order);
    const log = this.openLog();
    try {
      const running = await start(log);
      return this.#add({ ...order, id, log }, () => awaitProgram(running, log, remark), running);
    } catch (error) {
      this.#taken--;
      this.#reserved.delete(id);
      log.drop();
      throw error;
    }
  }

  /** Keeps a command that has ended in the foreground, so that its output can be read. Returns its id. */
  keep({ argv, owner }: JobOrigin, ended: EndedCommand): string {
    const { log, duration_ms, timed_out, ...outcome } = ended;
    const id = this.#freeId();
    const finished = this.#now();
    const record = {
      ...newRecord(id, argv, finished - duration_ms),
      ...outcome,
      finished_at_ms: finished,
      status: timed_out ? ("killed" as const) : statusOf(outcome.exit_code).status,
    };
    const settled = Promise.resolve();
    this.#jobs.set(id, { record, owner, log, running: undefined, isOrphan: false, settled });
    log.close();
    this.#retention.add(record, log.end - log.start);
    return id;
  }

  /**
   * Takes a slot for a command that another worker runs. Returns the job's id; the result follows. When
   * `forward` rejects, the job fails with the error's message as `stderr`.
   */
  forward(order: JobOrigin, forward: () => Promise<ForwardedResult>): string {
    const id = this.#reserve(order);
    const log = this.openLog();
    return this.#add({ ...order, id, log }, () => awaitForwarded(forward, log), undefined);
  }

  /** Returns a job to follow. Throws a plain refusal unless `viewer` may see it. */
  follow(id: string, viewer: string | undefined): FollowedJob {
    const job = this.#find(id, viewer);
    return {
      get record() {
        return job.record;
      },
      log: job.log,
      settled: job.settled,
    };
  }

  /**
   * Returns the record of a job; only `withRunning` includes the output so far of a running one. Throws a
   * plain refusal unless `viewer` may see it.
   */
  status(id: string, viewer: string | undefined, { withRunning = false } = {}): JobRecord {
    const {
      record: { signal, changed, checkpoint, not_held, notes, ...record },
      running,
    } = this.#find(id, viewer);
    return withRunning && record.status === "running" ? { ...record, ...running?.capture() } : record;
  }

  /** The number of jobs that have ended in the background. */
  get endings(): number {
    return this.#endings;
  }

  /** Returns the background jobs that ended after that number of others and whose records are kept. */
  endedAfter(endings: number): EndedJob[] {
    return [...this.#jobs.values()]
      .flatMap((job) => (job.ending === undefined ? [] : [endedJob(job, job.ending)]))
      .filter(({ ending }) => ending > endings)
      .sort((one, other) => one.ending - other.ending);
  }

  /** Calls `listener` for each background job that ends, until the returned function is called. */
  onEnded(listener: (job: EndedJob) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns whether a running job belongs to a caller other than `viewer` that is not known to have left. */
  hasForeign(viewer: string | undefined): boolean {
    return [...this.#jobs.values()].some((job) => !this.#isVisible(job, viewer) && !job.isOrphan);
  }

  /** Marks the jobs whose owner is not `present` as orphans, which every caller may list and end. */
  disown(present: ReadonlySet<string>): void {
    for (const job of this.#jobs.values()) {
      job.isOrphan = job.owner !== undefined && !present.has(job.owner);
    }
  }

  /** Returns the jobs that `viewer` may see, without commands and output. */
  list(viewer: string | undefined): { readonly jobs: JobSummary[]; readonly count: number } {
    const jobs = this.#listed(viewer).map(({ record }) => summarize(record));
    return { jobs, count: jobs.length };
  }

  /** Like `list`, but with the command of each job. */
  listInDetail(viewer: string | undefined): { readonly jobs: DetailedSummary[]; readonly count: number } {
    const jobs = this.#listed(viewer).map(({ record }) => summarizeInDetail(record));
    return { jobs, count: jobs.length };
  }

  /** Returns a job in the form of `listInDetail`. Throws a plain refusal unless `viewer` may end it. */
  summary(id: string, viewer: string | undefined): DetailedSummary {
    return summarizeInDetail(this.#find(id, viewer, "orphans").record);
  }

  /**
   * Ends a job, a program with its whole session. `killed` is true once none of its processes runs. Throws a
   * plain refusal for an unknown job, and for one that the operating system protects.
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

  /** Stops the timers and frees the outputs. The starter of the programs ends them. */
  close(): void {
    this.#retention.close();
    for (const { log } of this.#jobs.values()) log.drop();
  }

  /** Takes a slot, and the chosen id or a free one. */
  #reserve({ id: chosen }: JobOrigin): string {
    const { maxRunning } = this.#limits;
    if (chosen !== undefined && this.#isTaken(chosen))
      throw refusePlainly.jobIdTaken(chosen, this.#freeIdLike(chosen));
    if (this.#taken >= maxRunning) throw refusePlainly.tooManyJobs(maxRunning, this.#taken);
    const id = chosen ?? this.#freeId();
    this.#taken++;
    this.#reserved.add(id);
    return id;
  }

  #freeId(): string {
    for (;;) {
      const id = `job-${this.#limits.hasShortIds ? ++this.#numbered : randomUUID()}`;
      if (!this.#isTaken(id)) return id;
    }
  }

  /** Returns a free id such as `web-2`, of at most 100 characters. */
  #freeIdLike(id: string): string {
    for (let number = 2; ; number++) {
      const end = `-${number}`;
      const free = id.slice(0, 100 - end.length).toWellFormed() + end;
      if (!this.#isTaken(free)) return free;
    }
  }

  #isTaken(id: string): boolean {
    return this.#jobs.has(id) || this.#reserved.has(id);
  }

  #add(
    { argv, owner, id, log }: JobOrigin & { readonly id: string; readonly log: OutputLog },
    work: () => Promise<JobOutcome>,
    running: RunningProgram | undefined,
  ): string {
    const record = newRecord(id, argv, this.#now());
    const job: Job = { record, owner, log, running, isOrphan: false, settled: Promise.resolve() };
    this.#jobs.set(id, job);
    this.#reserved.delete(id);
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
    this.#retention.add(job.record, job.log.end - job.log.start);
    job.ending = ++this.#endings;
    for (const listener of this.#listeners) listener(endedJob(job, job.ending));
  }

  #listed(viewer: string | undefined): Job[] {
    this.#retention.prune();
    return [...this.#jobs.values()].filter((job) => job.isOrphan || this.#isVisible(job, viewer));
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

function endedJob({ record: { signal, ...record } }: Job, ending: number): EndedJob {
  return { record, signal, ending };
}

interface Job {
  /** See `EndedJob`. Absent until all processes of the job have ended, and for commands in the foreground. */
  ending?: number;
  record: JobRecord & JobEnding;
  readonly owner: string | undefined;
  readonly log: OutputLog;
  /** Whether the owner has left the bus. */
  isOrphan: boolean;
  /** The program, or `undefined` if another worker runs the command. */
  readonly running: RunningProgram | undefined;
  /** Resolves when none of the job's processes runs and its record is final. */
  settled: Promise<void>;
}

type JobOutcome = Partial<JobRecord & JobEnding> & { readonly status: JobStatus };

const newRecord = (id: string, argv: Argv, startedAt: number): JobRecord & JobEnding => ({
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
  signal: null,
});

/** Waits for the end of a job: until no process holds its outputs, or until it is ended. */
async function awaitProgram(
  running: RunningProgram,
  log: OutputLog,
  remark: (output: Captured) => Promise<Remarks> = async () => ({}),
): Promise<JobOutcome> {
  await Promise.race([Promise.all([running.exited, running.drained]), running.ended]);
  await running.end();
  const { endReason, signal, exitCode } = running;
  log.close(endReason === undefined ? undefined : `ended: ${endReason}`);
  const output = running.capture();
  return { ...output, ...statusOf(exitCode), signal, ...(await remark(output)) };
}

/** The number of bytes that are read from a pipe at once. */
const pieceBytes = 64 * 1024;

async function awaitForwarded(forward: () => Promise<ForwardedResult>, log: OutputLog): Promise<JobOutcome> {
  const fill = (stdout: string, stderr: string) => {
    for (const [from, text] of Object.entries({ stdout, stderr })) {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += pieceBytes)
        log.add(bytes.subarray(at, at + pieceBytes), from as "stdout" | "stderr");
    }
    log.close();
  };
  try {
    const { stdout, stderr, exit_code, timed_out } = await forward();
    const ending = timed_out ? ({ exit_code, status: "killed" } as const) : statusOf(exit_code);
    fill(stdout, stderr);
    return { stdout, stderr, ...ending };
  } catch (error) {
    const stderr = error instanceof Error ? error.message : String(error);
    fill("", stderr);
    return { stderr, status: "failed" };
  }
}

const statusOf = (exitCode: number | null) =>
  ({ exit_code: exitCode, status: exitCode === 0 ? "finished" : "failed" }) as const;
