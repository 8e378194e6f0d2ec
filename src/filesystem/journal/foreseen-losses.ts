import { largestHashed } from "../disk/hash-ahead.ts";
import type { ForeseenRemoval, GoingEntry, RemovalForecast } from "../disk/mutation.ts";
import { maxEntries } from "./capture.ts";

/** The estimated bytes of a frame without its content and its names. */
const frameBytes = 300;
/** The estimated bytes of the state of an entry in the frame of its folder. */
const stateBytes = 120;

/**
 * Foresees for a dry run the removals that the journal could not keep, from kinds, sizes and names alone. It
 * does not know of files that other programs have open, and estimates the bytes of frames.
 */
export class ForeseenLosses implements RemovalForecast {
  /** The bytes that the record of the call could still receive. */
  #room: number;
  #count = 0;

  constructor(room: number) {
    this.#room = room;
  }

  get count(): number {
    return this.#count;
  }

  removal({ isOneStep }: { readonly isOneStep: boolean }): ForeseenRemoval {
    return isOneStep ? this.#inOneStep() : this.#inSteps();
  }

  /** Returns the removal of a tree entry by entry. */
  #inSteps(): ForeseenRemoval {
    const entries: { readonly bytes: number | undefined }[] = [];
    return {
      add: (entry) => entries.push({ bytes: bytesOf(entry, frameBytes) }),
      end: () => {
        for (const { bytes } of entries) this.#take(bytes);
      },
    };
  }

  /** Returns the removal of a tree as a whole, which is lost with any of its entries. */
  #inOneStep(): ForeseenRemoval {
    let sum: number | undefined = frameBytes;
    let count = 0;
    return {
      add: (entry) => {
        const bytes = bytesOf(entry, stateBytes);
        // The folder itself is not in it.
        const isTooMany = count++ > maxEntries;
        sum = sum === undefined || bytes === undefined || isTooMany ? undefined : sum + bytes;
      },
      end: () => this.#take(sum),
    };
  }

  /** Keeps these bytes, if there is room. `undefined` stands for what the journal never keeps. */
  #take(bytes: number | undefined): void {
    if (bytes === undefined || bytes > this.#room) this.#count++;
    else this.#room -= bytes;
  }
}

/** Returns the bytes that the journal needs for an entry; `undefined` if it never keeps such an entry. */
function bytesOf({ kind, size, isText }: GoingEntry, ownBytes: number): number | undefined {
  if (!isText || kind === "other" || (kind === "file" && size > largestHashed)) return undefined;
  return ownBytes + (kind === "file" ? size : 0);
}
