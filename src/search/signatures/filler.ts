import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import type { ContentIndex } from "./content-index.ts";
import { type SignedFiles, signed } from "./sign-files.ts";

/** Files in the order of their paths, folder by folder. */
export interface FilesByFolder {
  /** The names on disk, one character per byte, each followed by a NUL. */
  readonly names: string;
  readonly count: number;
  /** The index of each folder's first file. */
  readonly firsts: readonly number[];
}

/** Files that should be signed. */
export interface FilesToSign extends FilesByFolder {
  /** The path of each folder, from the base. */
  readonly folders: readonly string[];
  /** The number of times they were found to have just changed. */
  readonly attempts?: number;
}

/** Like `FilesToSign`, but as a message to a thread. */
export interface SignJob extends FilesByFolder {
  readonly what: "sign";
  /** The descriptors of the folders. */
  readonly descriptors: readonly number[];
  /** Anything but 0 means that the job has to end. */
  readonly signal: Int32Array;
}

export interface FillerOptions {
  readonly index: ContentIndex;
  readonly jail: Pick<Jail, "reopenFolder" | "deniesBytesIn">;
  /** Signs files in a thread. Resolves to `undefined` if the thread ended. */
  readonly sign: (job: SignJob) => Promise<SignedFiles | undefined>;
  /** Maximum jobs at once. Default: 1. */
  readonly jobsAtOnce?: number;
  /** Returns milliseconds since a fixed moment. Default: `performance.now`. */
  readonly now?: () => number;
}

/** Maximum files that may wait. The rest are dropped, until a search meets them again. */
const maxWaiting = 2_000_000;
/** Maximum folders on other file systems that are left out. Beyond it, the oldest are forgotten. */
const maxHopeless = 16_384;
/** Delays in milliseconds before the filler retries files that had just changed. */
const retryAfter = [150, 1000, 4000];
/** Milliseconds after a search before background work begins, which would delay its answer or a next call. */
export const backgroundDelay = 5;
/**
 * Maximum milliseconds that files wait for a moment without a search. After that, searches share the threads
 * with the filler.
 */
const maxDelay = 3000;

/**
 * Fills an index in the background, while no search is running. If searches never pause, it runs beside them,
 * since the index makes each of them faster.
 */
export class Filler {
  readonly #options: FillerOptions;
  readonly #now: () => number;
  readonly #waiting: FilesToSign[] = [];
  #files = 0;
  /** Paths of folders whose file system does not report when contents change, the oldest first. */
  readonly #hopeless = new Set<string>();
  #signal = new Int32Array(new SharedArrayBuffer(4));
  #isPaused = true;
  #isClosed = false;
  /** The time when the first of the waiting files arrived. */
  #waitingSince = 0;
  #running: Promise<void> | undefined;
  #start: ReturnType<typeof setTimeout> | undefined;
  readonly #retries = new Set<ReturnType<typeof setTimeout>>();
  /** Callbacks of those who wait until nothing is left to do. */
  #onIdle: (() => void)[] = [];

  constructor(options: FillerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** The number of waiting files. */
  get files(): number {
    return this.#files;
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  get #isIdle(): boolean {
    return !this.hasWork && this.#retries.size === 0;
  }

  /** Whether files are waiting or being signed. Files scheduled for a retry do not count. */
  get hasWork(): boolean {
    return this.#waiting.length > 0 || this.#running !== undefined;
  }

  add(files: FilesToSign): void {
    if (this.#isClosed || this.#files + files.count > maxWaiting) return;
    if (!this.hasWork) this.#waitingSince = this.#now();
    this.#files += files.count;
    this.#waiting.push(files);
  }

  /** Called when a search begins. The current job ends soon, unless files have waited for too long. */
  pause(): void {
    this.#isPaused = true;
    if (this.#mayRun) return;
    clearTimeout(this.#start);
    Atomics.store(this.#signal, 0, 1);
  }

  /**
   * Called when a search has ended; `isIdle` says that no other is running. Returns whether background work
   * may start now.
   */
  resume(isIdle: boolean): boolean {
    this.#isPaused = !isIdle;
    if (!this.#mayRun) return false;
    clearTimeout(this.#start);
    if (this.#isOverdue) this.#begin();
    else if (this.#waiting.length > 0) this.#start = setTimeout(() => this.#begin(), backgroundDelay).unref();
    return true;
  }

  get #mayRun(): boolean {
    return !this.#isClosed && (!this.#isPaused || this.#isOverdue);
  }

  get #isOverdue(): boolean {
    return this.hasWork && this.#now() - this.#waitingSince >= maxDelay;
  }

  /** Stops all work for good. */
  close(): void {
    this.#isClosed = true;
    this.pause();
    this.#waiting.length = 0;
    this.#files = 0;
    for (const retry of this.#retries) clearTimeout(retry);
    this.#retries.clear();
    this.#wakeIfIdle();
  }

  #wakeIfIdle(): void {
    if (this.#isIdle) for (const wake of this.#onIdle.splice(0)) wake();
  }

  #begin(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#mayRun) this.resume(!this.#isPaused);
      this.#wakeIfIdle();
    });
  }

  async #run(): Promise<void> {
    const { jobsAtOnce = 1 } = this.#options;
    const slice = createTimeSlice();
    const jobs = new Set<Promise<void>>();
    try {
      while (this.#mayRun && this.#waiting.length > 0) {
        const files = this.#waiting.shift()!;
        this.#files -= files.count;
        const job = this.#signAll(new OpenedFiles(files, this.#options.jail, this.#hopeless));
        const ended = job.finally(() => jobs.delete(ended));
        jobs.add(ended);
        // Beside a search, a single thread signs files.
        while (jobs.size >= (this.#isPaused ? 1 : jobsAtOnce)) await Promise.race(jobs);
        await slice.yieldIfDue();
      }
    } finally {
      await Promise.all(jobs);
    }
  }

  async #signAll(files: OpenedFiles): Promise<void> {
    if (this.#signal[0] !== 0) this.#signal = new Int32Array(new SharedArrayBuffer(4));
    let found: SignedFiles | undefined;
    try {
      found = files.count === 0 ? undefined : await this.#options.sign(files.job(this.#signal));
    } finally {
      // The index may have to wait for a search before it takes the signatures.
      files.close();
    }
    if (found === undefined) return;
    await this.#options.index.take(found);
    if (found.outcomes.includes(signed.notReached)) this.add(files.with(signed.notReached, found.outcomes));
    if (found.outcomes.includes(signed.notYet)) this.#retry(files.with(signed.notYet, found.outcomes));
    if (found.outcomes.includes(signed.never))
      this.#noteHopeless(files.foldersOf(signed.never, found.outcomes));
  }

  #noteHopeless(folders: readonly string[]): void {
    for (const path of folders) this.#hopeless.add(path);
    for (const path of this.#hopeless) {
      if (this.#hopeless.size <= maxHopeless) return;
      this.#hopeless.delete(path);
    }
  }

  #retry(files: FilesToSign): void {
    const milliseconds = retryAfter[files.attempts ?? 0];
    if (milliseconds === undefined || this.#isClosed) return;
    const retry = setTimeout(() => {
      this.#retries.delete(retry);
      this.add({ ...files, attempts: (files.attempts ?? 0) + 1 });
      if (this.#mayRun) this.resume(!this.#isPaused);
    }, milliseconds);
    retry.unref();
    this.#retries.add(retry);
  }
}

/** Files whose folders are open, without the denied ones. */
class OpenedFiles {
  readonly #folders: Folder[] = [];
  readonly #firsts: number[] = [];
  /** Names, one character per byte. */
  readonly #names: string[] = [];
  readonly #attempts: number;

  constructor(
    { names, count, firsts, folders, attempts = 0 }: FilesToSign,
    jail: FillerOptions["jail"],
    hopeless: ReadonlySet<string>,
  ) {
    this.#attempts = attempts;
    const all = names.split("\0");
    folders.forEach((path, index) => {
      const folder = hopeless.has(path) ? undefined : openFolder(jail, path);
      if (folder === undefined) return;
      // The path may lead elsewhere since it was listed.
      const isDenied = (bytes: Buffer) => jail.deniesBytesIn(folder, bytes, 0, bytes.length);
      const own = all.slice(firsts[index], firsts[index + 1] ?? count);
      const allowed = own.filter((name) => !isDenied(Buffer.from(name, "latin1")));
      if (allowed.length === 0) {
        folder.close();
        return;
      }
      this.#folders.push(folder);
      this.#firsts.push(this.#names.length);
      this.#names.push(...allowed);
    });
  }

  get count(): number {
    return this.#names.length;
  }

  job(signal: Int32Array): SignJob {
    const descriptors = this.#folders.map(({ descriptor }) => descriptor!);
    return { what: "sign", ...this.#list(this.#names, this.#firsts), descriptors, signal };
  }

  #list(names: readonly string[], firsts: readonly number[]): FilesByFolder {
    return { names: names.map((name) => `${name}\0`).join(""), count: names.length, firsts };
  }

  /** Returns the files with this outcome. */
  with(outcome: number, outcomes: Uint8Array): FilesToSign {
    const [names, firsts, folders]: [string[], number[], string[]] = [[], [], []];
    this.#folders.forEach(({ path }, index) => {
      const [from, to] = [this.#firsts[index]!, this.#firsts[index + 1] ?? this.count];
      const own = this.#names.slice(from, to).filter((_, at) => outcomes[from + at] === outcome);
      if (own.length === 0) return;
      folders.push(path);
      firsts.push(names.length);
      names.push(...own);
    });
    return { ...this.#list(names, firsts), folders, attempts: this.#attempts };
  }

  /** Returns the paths of the folders whose first file has this outcome. */
  foldersOf(outcome: number, outcomes: Uint8Array): string[] {
    const folders = this.#folders.filter((_, index) => outcomes[this.#firsts[index]!] === outcome);
    return folders.map(({ path }) => path);
  }

  close(): void {
    for (const folder of this.#folders) folder.close();
  }
}

/** Opens a folder. Returns `undefined` if it is gone, denied or unreadable. */
function openFolder(jail: FillerOptions["jail"], path: string): Folder | undefined {
  try {
    const folder = jail.reopenFolder(path);
    if (folder.descriptor !== undefined) return folder;
    folder.close();
  } catch {
    // A search will meet and report the error.
  }
  return undefined;
}
