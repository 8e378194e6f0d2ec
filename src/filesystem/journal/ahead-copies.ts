/**
 * Copies of files that are too large for a step to copy, made in slices before the step that removes or
 * replaces them. The step renames its copy.
 */
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import type { HeldEntry } from "../disk/mutation.ts";
import { isHashedAhead, stampsOf } from "../files/revision.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { newCopyPath, removeCopy } from "./segment-folder.ts";
import { copyToNew } from "./segments.ts";

/** The copy of a file that has these stamps. */
export interface AheadCopy {
  readonly stamps: string;
  /** The host path of the copy. */
  readonly path: string;
}

/** The copy of a file, or the error of making it. */
type Attempt = { readonly path: string } | { readonly error: unknown };

/** Maximum unused copies. A step uses its own soon, so the oldest one belongs to a call that failed. */
const maxUnused = 4;

/** Milliseconds after which an unused copy is removed. */
const unusedMilliseconds = 10_000;

export class AheadCopies {
  readonly #state: StateFolder;
  /** The unused copies by the stamps of their files, the oldest first. */
  readonly #unused = new Map<string, { readonly attempt: Attempt; readonly timer: NodeJS.Timeout }>();
  #newest: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(state: StateFolder) {
    this.#state = state;
  }

  /**
   * Copies a file whose revision is known, if `makeRoom` returns true. Files are copied one after another, so
   * that each call uses its copy before there are many. Throws the errno error of opening the file.
   */
  async make(file: HeldEntry, makeRoom: () => boolean): Promise<void> {
    const steps = () => file.readInSteps((descriptor) => this.#make(descriptor, makeRoom));
    const making = this.#newest.then(() => runInSlices(steps(), createTimeSlice()));
    this.#newest = making.catch(() => {});
    await making;
  }

  /**
   * Returns the copy of an opened file, for the caller to rename or give back, unless the file has changed
   * since. Throws the error of making it.
   */
  take(descriptor: number): AheadCopy | undefined {
    const stamps = stampsOf(descriptor);
    const unused = this.#unused.get(stamps);
    if (unused === undefined) return undefined;
    const { attempt, timer } = unused;
    if ("error" in attempt) throw attempt.error;
    clearTimeout(timer);
    this.#unused.delete(stamps);
    return { stamps, path: attempt.path };
  }

  /** Keeps a copy for the next attempt. */
  giveBack({ stamps, path }: AheadCopy): void {
    if (this.#isClosed) removeCopy(path);
    else this.#keep(stamps, { path });
  }

  /** Removes the unused copies, and from now on those that are still being made. */
  close(): void {
    this.#isClosed = true;
    for (const stamps of this.#unused.keys()) this.#drop(stamps);
  }

  *#make(from: number, makeRoom: () => boolean): Steps<void> {
    const stamps = stampsOf(from);
    const made = this.#unused.get(stamps)?.attempt;
    const isMade = made !== undefined && "path" in made;
    if (isMade || !isHashedAhead(from)) return;
    try {
      if (!makeRoom()) return;
      const path = newCopyPath(this.#state);
      yield* copyToNew(from, path);
      if (stampsOf(from) === stamps) this.giveBack({ stamps, path });
      else removeCopy(path);
    } catch (error) {
      // It is the step that reports why its file is lost.
      this.#keep(stamps, { error });
    }
  }

  #keep(stamps: string, attempt: Attempt): void {
    this.#drop(stamps);
    const timer = setTimeout(() => this.#drop(stamps), unusedMilliseconds).unref();
    this.#unused.set(stamps, { attempt, timer });
    if (this.#unused.size > maxUnused) this.#drop(this.#unused.keys().next().value!);
  }

  #drop(stamps: string): void {
    const unused = this.#unused.get(stamps);
    if (unused === undefined) return;
    clearTimeout(unused.timer);
    this.#unused.delete(stamps);
    if ("path" in unused.attempt) removeCopy(unused.attempt.path);
  }
}
