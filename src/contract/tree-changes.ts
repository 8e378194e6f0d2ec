/** What has changed in the tree that a worker serves, for readers in the same process. */

/** A change of one name. */
export interface ReportedChange {
  /** Counts up. */
  readonly seq: number;
  /** From the base, with `/` between names; "." for the base itself. */
  readonly path: string;
  /** Of a move: the old path. */
  readonly from?: string;
  readonly kind: "created" | "modified" | "deleted" | "moved";
  /** A folder, which unless it is `modified` counts for everything in it. */
  readonly isFolder: boolean;
  /** Changes before this one are not known: anything at the path or below may be different. */
  readonly isGap?: boolean;
}

export interface TreeChanges {
  /**
   * Reports changes of calls from now on, in order and a fraction of a second after they were made, and those of other programs
   * while the tree is watched. What is denied is never reported. Returns what ends it. `report` must not throw.
   */
  open(report: (change: ReportedChange) => void): () => void;
  /**
   * Has the tree watched from now on, where it can be. Resolves to the number of the newest change: what comes after it has a
   * larger one. Throws a refusal where the base is gone.
   */
  watch(): Promise<number>;
}
