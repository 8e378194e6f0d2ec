/** What the thread that runs a search signals to those that search its batches, in shared memory; 0 is no signal. */
export const batchSignals = {
  /** The search has ended. */
  isOver: 1,
  /** The answer takes no more matches in contents. */
  contentIsOver: 2,
} as const;
