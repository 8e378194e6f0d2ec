import { JobState, type PostedJob, type PostedReply } from "./serve.ts";
import type { Thread } from "./spawn.ts";

/**
 * Thrown if the thread ended before its reply: the job was cancelled, the thread could not start, or it
 * failed.
 */
export class ThreadEnded extends Error {
  override readonly name = "ThreadEnded";
}

/** A job and the promise of its reply. */
export interface Task {
  readonly job: unknown;
  /** Documented at `Pool.run`. */
  readonly shared?: unknown;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: ThreadEnded) => void;
}

export interface ThreadEvents {
  /** Reports that it has loaded its program. */
  onReady(): void;
  onReply(): void;
  /** Receives the task that the thread had begun, if any, and those that it had not. */
  onEnd(begun: Task | undefined, waiting: Task[]): void;
  /** Follows `onEnd`, once the thread has stopped running. */
  onGone(): void;
}

/** A task assigned to a thread. */
interface QueuedTask {
  readonly task: Task;
  readonly number: number;
  readonly state: Int32Array;
}

const isBegun = ({ state }: QueuedTask): boolean => Atomics.load(state, 0) === JobState.begun;

/** Claims the task back. Returns false if the thread was faster. */
const reclaim = ({ state }: QueuedTask): boolean =>
  Atomics.compareExchange(state, 0, JobState.posted, JobState.reclaimed) === JobState.posted;

/** One thread and its tasks. It runs the first, while the others wait in its message port. */
export class PooledThread {
  readonly #thread: Thread;
  readonly #events: ThreadEvents;
  #tasks: QueuedTask[] = [];
  #posted = 0;
  /** The shared data that was posted last. */
  #shared: unknown;
  /** The time when it began the first of its tasks. */
  #begun = 0;
  #hasEnded = false;

  constructor(thread: Thread, events: ThreadEvents) {
    this.#events = events;
    this.#thread = thread;
    this.#thread.onMessage((reply) => this.#settle(reply as PostedReply));
    this.#thread.onEnd(() => this.end());
    // An idle thread does not keep the process alive.
    this.#thread.unref();
  }

  get load(): number {
    return this.#tasks.length;
  }

  /** Milliseconds it has worked on its first task; 0 if it is idle. */
  get busy(): number {
    return this.#tasks.length === 0 ? 0 : performance.now() - this.#begun;
  }

  has(task: Task): boolean {
    return this.#tasks.some((held) => held.task === task);
  }

  isWorkingOn(task: Task): boolean {
    return this.#tasks.some((held) => held.task === task && isBegun(held));
  }

  assign(task: Task): void {
    if (this.#tasks.length === 0) {
      this.#begun = performance.now();
      this.#thread.ref();
    }
    const number = ++this.#posted;
    const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    this.#tasks.push({ task, number, state });
    const { job, shared } = task;
    const message: PostedJob = { number, job, state };
    this.#thread.postMessage(shared === this.#shared ? message : { ...message, shared });
    this.#shared = shared;
  }

  /** Takes back and returns the tasks that it has not begun. */
  reclaim(): Task[] {
    const waiting = this.#tasks.filter(reclaim);
    this.#tasks = this.#tasks.filter((held) => !waiting.includes(held));
    if (this.#tasks.length === 0) this.#thread.unref();
    return waiting.map(({ task }) => task);
  }

  /** True after `end`. It takes no further tasks, but may run on for a while. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Ends the thread, even in the middle of a task, and releases its tasks at once. Bun ends a thread only
   * between two calls into WebAssembly, so the state of the task interrupts the current call.
   */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const held = this.#tasks.splice(0);
    for (const { state } of held) Atomics.store(state, 0, JobState.cancelled);
    const [begun, ...waiting] = held.map(({ task }) => task);
    this.#thread.unref();
    void this.#thread.terminate().then(() => this.#events.onGone());
    this.#events.onEnd(begun, waiting);
  }

  #settle({ number, reply }: PostedReply): void {
    if (number === 0) this.#events.onReady();
    const index = this.#tasks.findIndex((task) => task.number === number);
    if (index < 0) return;
    const [settled] = this.#tasks.splice(index, 1);
    this.#begun = performance.now();
    if (this.#tasks.length === 0) this.#thread.unref();
    settled?.task.resolve(reply);
    this.#events.onReply();
  }
}
