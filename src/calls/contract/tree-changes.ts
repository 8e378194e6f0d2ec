/** The changes in the tree that a worker serves, for readers in the same process. */

/** A change of one name. */
export interface ReportedChange {
  /** A number that counts up. */
  readonly seq: number;
  /** The path from the base, with `/` between names; "." for the base itself. */
  readonly path: string;
  /** The old path of a move. */
  readonly from?: string;
  readonly kind: "created" | "modified" | "deleted" | "moved";
  /** Whether it is a folder, whose change stands for everything in it unless it is `modified`. */
  readonly isFolder: boolean;
  /** Whether changes before this one are unknown, so that anything at or below the path may differ. */
  readonly isGap?: boolean;
}

export interface TreeChanges {
  /** Starts to keep changes by calls, and returns the place in the feed where a session begins. */
  begin(): string;
  /**
   * Reports changes of calls from now on, in order and a fraction of a second after they were made, and those
   * of other programs while the tree is watched. Changes of denied paths are never reported. Returns a
   * function that ends it. `report` must not throw.
   */
  open(report: (change: ReportedChange) => void): () => void;
  /**
   * Watches the tree from now on, if possible. Resolves to the number of the newest change; later ones have
   * larger numbers. Throws a refusal if the base is gone.
   */
  watch(): Promise<number>;
}
