import { Refusal } from "../errors.ts";

/** When a call that was not admitted may be sent again: long calls end, or give way to others, within a second or so. */
const retryAfterMilliseconds = 1000;

/** Says why a call was not admitted. */
const notNow = (why: string): Refusal =>
  new Refusal(
    "over-quota",
    `${why}. This one was not begun. Send it again in ${retryAfterMilliseconds} ms, and fewer at once.`,
    undefined,
    { details: { retry_after_ms: retryAfterMilliseconds } },
  );

/** What admission control refuses. */
export const refuseAdmission = {
  /** More calls wait for their turns, or for room for their answers, than may. */
  manyWaiting: (waiting: number): Refusal => notNow(`The worker is busy: ${waiting} calls wait already`),

  manyRequestBytes: (limit: number): Refusal =>
    notNow(`The requests of calls under way may take ${limit} bytes together, half of that for one caller`),
} as const;

/** What keeps a trigger from being registered. */
export const refuseTrigger = {
  tooMany: (limit: number): Refusal =>
    new Refusal(
      "over-quota",
      `The worker has ${limit} triggers, and takes no more; unregister those that are not needed.`,
    ),
} as const;
