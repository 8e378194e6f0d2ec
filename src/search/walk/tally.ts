/** The outcomes and counts of the files of a search. */

/** The outcomes of a file without searched contents. Otherwise the outcome is the bytes of its contents. */
export const outcomes = { notReached: -1, gone: -2, tooLarge: -3, binary: -4, unreadable: -5 } as const;

/** Returns the outcome of contents in which a line matches only after the part that is searched. */
export const withLongLine = (bytes: number): number => bytes + longLine;

/** A marker added to a number of bytes, which is whole. */
const longLine = 0.5;

/** Creates the outcomes of a batch, with no file searched yet. */
export const createOutcomes = (count: number): Float64Array =>
  new Float64Array(count).fill(outcomes.notReached);

/** The entries that a walk has passed over, and no batch contains. */
export interface PassedOver {
  /** The number of files and folders that ignore files and default excludes leave out. */
  readonly excluded: number;
  /** The number of them that ignore files leave out. */
  readonly ignored: number;
  /** The number of denied files and folders in listings. */
  readonly denied: number;
  /**
   * The counts of files that an index rules out: those that would have been searched, with their bytes, and
   * those that would not.
   */
  readonly files: number;
  readonly bytes: number;
  readonly tooLarge: number;
  readonly binary: number;
}

export const nothingPassedOver: PassedOver = {
  excluded: 0,
  ignored: 0,
  denied: 0,
  files: 0,
  bytes: 0,
  tooLarge: 0,
  binary: 0,
};

/**
 * The paths of the first files and folders that a walk has left out, in its order. Folder paths end in "/".
 */
export interface FirstLeftOut {
  readonly byDefault: readonly string[];
  /** The paths in `byDefault` that ignore files also name. */
  readonly alsoIgnored: ReadonlySet<string>;
  readonly byIgnoreFiles: readonly string[];
}

/** Maximum names that are kept of each kind. */
export const maxNamesLeftOut = 3;

/** Counts of files. None of them includes anything denied. */
export class Tally {
  readonly searched = { files: 0, bytes: 0 };
  readonly skipped = { too_large: 0, binary: 0, unreadable: 0, long_lines: 0 };

  /** Counts the first `count` files of a batch. The last of them may be searched only in part. */
  add(batch: Float64Array, count: number, isLastWhole: boolean): void {
    const files = batch.subarray(0, count).filter((outcome) => outcome !== outcomes.notReached);
    for (const [index, outcome] of files.entries())
      this.#addFile(isLastWhole || index < files.length - 1 ? outcome : Math.floor(outcome));
  }

  #addFile(outcome: number): void {
    if (outcome >= 0) {
      const bytes = Math.floor(outcome);
      this.searched.files++;
      this.searched.bytes += bytes;
      if (outcome > bytes) this.skipped.long_lines++;
    } else if (outcome === outcomes.tooLarge) this.skipped.too_large++;
    else if (outcome === outcomes.binary) this.skipped.binary++;
    else if (outcome === outcomes.unreadable) this.skipped.unreadable++;
  }
}
