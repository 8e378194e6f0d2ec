/**
 * A pool of threads of one program, which starts them on demand and keeps them. To cancel a job that a thread
 * has begun, it ends the thread; the thread's other jobs go to another.
 */
import { PooledThread, type Task, ThreadEnded } from "./pooled-thread.ts";
import type { ThreadProgram } from "./sources.ts";
import { spawnThread, type Thread } from "./spawn.ts";

export { ThreadEnded };

export interface PoolOptions {
  readonly program: ThreadProgram;
  /** Maximum threads that work at once. */
  readonly size: number;
  /** Maximum jobs assigned to a thread at once, so that it need not wait for the next one. */
  readonly depth: number;
  /** Milliseconds without a job after which the threads end. Default: a minute. */
  readonly idleMilliseconds?: number;
  /** Starts a thread, or throws. Default: `spawnThread`. */
  readonly spawn?: (program: ThreadProgram) => Thread;
}

/** A job that waits or runs. */
export interface PoolJob<Reply> {
  /** The reply. Rejects with `ThreadEnded`. */
  readonly reply: Promise<Reply>;
  /** Ends the job, and the thread if one has begun it. The promise settles then. */
  cancel(): void;
}

/** Milliseconds on one job after which a thread counts as stuck, so that another may start in its place. */
const longJob = 500;
/** See `PoolOptions.idleMilliseconds`. An idle thread takes more than 10 MB. */
const defaultIdle = 60_000;
/** Stuck threads that the pool tolerates, per working thread. */
const maxStuck = 3;

export class Pool<Job, Reply> {
  readonly #options: PoolOptions;
  readonly #threads = new Set<PooledThread>();
  readonly #waiting: Task[] = [];
  #nextRebalance: ReturnType<typeof setTimeout> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #isReady = false;
  /** Callbacks of those who wait for the first thread. */
  #onReady: (() => void)[] = [];
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Runs a job. `shared` holds data that several jobs share, posted to each thread once: a buffer of shared
   * memory counts in the heap of a thread each time that it is posted, and large ones would keep the garbage
   * collector busy. Throws if it needs a thread and none can start.
   */
  run(job: Job, shared?: object): PoolJob<Reply> {
    const { promise, task } = taskOf<Reply>(job, shared);
    if (this.#isClosed) task.reject(new ThreadEnded("the pool was closed"));
    else this.#waiting.push(task);
    try {
      this.#dispatch();
    } catch (error) {
      // Nothing would handle a later rejection of its promise.
      this.#remove(task);
      throw error;
    }
    return { reply: promise, cancel: () => this.#cancel(task) };
  }

  /** Starts the threads, if none is running, ahead of jobs for them. Throws if none can start. */
  prepare(): void {
    while (this.#threads.size < this.#options.size && !this.#isClosed) this.#start();
    this.#endIdleLater();
  }

  /** Maximum threads that work at once. */
  get size(): number {
    return this.#options.size;
  }

  /** Whether a thread runs, and has loaded its program. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when a thread has loaded its program. */
  async ready(): Promise<void> {
    if (!this.#isReady) await new Promise<void>((resolve) => this.#onReady.push(resolve));
  }

  /** Ends the threads, and rejects the jobs in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#nextRebalance);
    clearTimeout(this.#idle);
    for (const thread of this.#threads) thread.end();
    for (const task of this.#waiting.splice(0)) task.reject(new ThreadEnded("the pool was closed"));
  }

  #dispatch(): void {
    while (this.#waiting.length > 0 && !this.#isClosed) {
      const thread = this.#choose();
      if (thread === undefined) break;
      thread.assign(this.#waiting.shift() as Task);
    }
    this.#endSurplus();
    this.#endIdleLater();
    if (this.#nextRebalance === undefined && this.#isBusy()) {
      this.#nextRebalance = setTimeout(() => this.#rebalance(), longJob);
      this.#nextRebalance.unref();
    }
  }

  /** Returns an idle thread, else a new one, else the one with the lowest load. */
  #choose(): PooledThread | undefined {
    const { size, depth } = this.#options;
    const working = [...this.#threads].filter((thread) => !thread.hasEnded && thread.busy < longJob);
    const idlest = working.sort((one, other) => one.load - other.load)[0];
    if (idlest?.load === 0) return idlest;
    if (working.length < size && this.#threads.size < size * (1 + maxStuck)) return this.#start();
    return idlest !== undefined && idlest.load < depth ? idlest : undefined;
  }

  #start(): PooledThread {
    const { program, spawn = spawnThread } = this.#options;
    const thread = new PooledThread(spawn(program), {
      onReady: () => {
        this.#isReady = true;
        for (const resolve of this.#onReady.splice(0)) resolve();
      },
      onReply: () => this.#dispatch(),
      onGone: () => {
        this.#threads.delete(thread);
        this.#isReady &&= this.#threads.size > 0;
        this.#dispatch();
      },
      onEnd: (begun, waiting) => {
        begun?.reject(new ThreadEnded("the thread ended"));
        this.#waiting.unshift(...waiting);
        this.#dispatch();
      },
    });
    this.#threads.add(thread);
    return thread;
  }

  #cancel(task: Task): void {
    const thread = [...this.#threads].find((thread) => thread.has(task));
    if (thread?.isWorkingOn(task)) {
      thread.end();
      return;
    }
    if (thread !== undefined) this.#waiting.unshift(...thread.reclaim());
    this.#remove(task);
    task.reject(new ThreadEnded("the job was cancelled"));
    this.#dispatch();
  }

  #remove(task: Task): void {
    const at = this.#waiting.indexOf(task);
    if (at >= 0) this.#waiting.splice(at, 1);
  }

  /** Reclaims from stuck threads the jobs that they have not begun. */
  #rebalance(): void {
    this.#nextRebalance = undefined;
    for (const thread of this.#threads) {
      if (thread.busy >= longJob) this.#waiting.unshift(...thread.reclaim());
    }
    this.#dispatch();
  }

  /** Ends idle threads beyond the size, which replaced stuck ones that work again. */
  #endSurplus(): void {
    const threads = [...this.#threads].filter((thread) => !thread.hasEnded);
    const idle = threads.filter((thread) => thread.load === 0);
    for (const thread of idle.slice(0, Math.max(0, threads.length - this.#options.size))) thread.end();
  }

  /** Ends all threads once the pool has been idle for a while. */
  #endIdleLater(): void {
    if (this.#isBusy() || this.#threads.size === 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (!this.#isBusy()) for (const thread of this.#threads) thread.end();
    }, this.#options.idleMilliseconds ?? defaultIdle);
    this.#idle.unref();
  }

  #isBusy(): boolean {
    return [...this.#threads].some((thread) => thread.load > 0);
  }
}

function taskOf<Reply>(job: unknown, shared: unknown): { task: Task; promise: Promise<Reply> } {
  let settle: Pick<Task, "resolve" | "reject"> | undefined;
  const promise = new Promise<Reply>((resolve, reject) => {
    settle = { resolve: (reply) => resolve(reply as Reply), reject };
  });
  return { task: { job, shared, ...(settle as Pick<Task, "resolve" | "reject">) }, promise };
}
