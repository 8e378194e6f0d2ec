import { Refusal } from "../base/errors.ts";
import type { UnreadableJson } from "../base/scheduling/parse-json.ts";

/**
 * The milliseconds after which a refused call may be sent again. Long calls end, or give way to others,
 * within about a second.
 */
const retryAfterMilliseconds = 1000;

/** Returns the refusal of a call that was not admitted. */
const notNow = (why: string): Refusal =>
  new Refusal(
    "over-quota",
    `${why}. This one was not begun. Send it again in ${retryAfterMilliseconds} ms, and fewer at once.`,
    undefined,
    { details: { retry_after_ms: retryAfterMilliseconds } },
  );

/** The refusals of admission control. */
export const refuseAdmission = {
  /** Too many calls wait for their turns, or for room for their answers. */
  manyWaiting: (waiting: number): Refusal => notNow(`The server is busy: ${waiting} calls wait already`),

  manyRequestBytes: (limit: number): Refusal =>
    notNow(`The requests of calls under way may take ${limit} bytes together, half of that for one caller`),
} as const;

/** The refusals of requests that are not read. */
export const refuseUnread = {
  manyTokens: (limit: number): Refusal =>
    new Refusal(
      "bad-input",
      `A request of this size may have at most ${limit} values, keys and punctuation marks together, and nothing of this one was carried out; send less at once.`,
    ),

  unreadable: ({ fault, advice }: UnreadableJson): Refusal =>
    new Refusal("bad-input", `The request ${fault}. Nothing was done; ${advice}.`),

  manyKeys: (limit: number): Refusal =>
    new Refusal(
      "bad-input",
      `An object in a request may have at most ${limit} fields, and nothing of this one was carried out; send several requests with fewer.`,
    ),
} as const;

export const refuseTrigger = {
  stopping: (): Refusal =>
    new Refusal("io", "The server is stopping, and takes no triggers; register the trigger at the next one."),

  tooMany: (limit: number): Refusal =>
    new Refusal(
      "over-quota",
      `The server has ${limit} triggers, and takes no more; unregister those that are not needed.`,
    ),
} as const;
