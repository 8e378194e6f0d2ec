/**
 * Milliseconds between a call's arrival and its answer, at least. Engines (0.22, 0.23) hand a call to the worker's
 * socket before they file it as pending, and drop an answer that arrives in between: 12 of 45,000 were
 * lost, and their callers waited for their timeout and took a write that was done for one that failed. Of 160,000
 * answers that were sent after a millisecond none was.
 */
const earliestMilliseconds = 1;

/**
 * Resolves once an answer to a call that came in at `arrived` (`performance.now()`) may be sent: at once for a call
 * that took longer than `milliseconds`, by default one.
 */
export async function earliestAnswer(arrived: number, milliseconds = earliestMilliseconds): Promise<void> {
  // A timer may fire early by a fraction.
  while (performance.now() - arrived < milliseconds)
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
}
