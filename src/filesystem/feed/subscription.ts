/**
 * Delivers the changes of a feed to one reader, in order, and reports a gap when it had to leave some out.
 */
import { setTimeout } from "node:timers/promises";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { type FeedChange, gap } from "./change.ts";
import { coalesce } from "./coalesce.ts";
import type { Feed } from "./feed.ts";

export interface SubscriptionOptions {
  readonly feed: Pick<Feed, "newest" | "follows" | "at">;
  /** The number of the last change that the reader has. */
  readonly from: number;
  /** Whether earlier changes are unknown to the reader. */
  readonly hasGap: boolean;
  /** The interval between deliveries in milliseconds. Changes in between are coalesced. */
  readonly every: number;
  /**
   * Resolves when there may be a change after that of this number, and when the signal aborts. Default: at
   * once.
   */
  readonly due?: (after: number, signal: AbortSignal) => Promise<void>;
  readonly selects: (change: FeedChange) => boolean;
  /** Delivers a change. An exception counts as `absent`. */
  readonly deliver: (change: FeedChange) => Promise<Delivery>;
}

/**
 * Whether the reader got a change. `absent` means that it did not, because it does not exist. With an
 * `outcome` it was sent again, and the next changes do not wait for the answer.
 */
export type Delivery = Outcome | { readonly outcome: Promise<Outcome> };
type Outcome = "delivered" | "absent" | "unknown";

/** Milliseconds between attempts after a failed delivery: the first pause, and the maximum. */
const pauses = { first: 100, most: 30_000 } as const;

export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #stopping = new AbortController();
  /** The number of the last change that the reader got, or that was not selected for it. */
  #at: number;
  /** Whether the reader may have missed earlier changes. */
  #hasGap: boolean;
  #pause: number = pauses.first;
  /** Whether a change is being delivered, so that the reader may have got it. */
  #isDelivering = false;
  /** Resolves when the reader has answered the change that was sent again, if any. */
  #redelivery: Promise<void> | undefined;

  /** Begins to deliver changes at once. */
  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#at = options.from;
    this.#hasGap = options.hasGap;
    void this.#run();
  }

  /**
   * Stops delivering. Returns the number after which another subscription can continue, or `undefined` if the
   * reader may have missed changes.
   */
  end(): number | undefined {
    this.#stopping.abort();
    const isUncertain = this.#hasGap || this.#isDelivering || this.#redelivery !== undefined;
    return isUncertain ? undefined : this.#at;
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #run(): Promise<void> {
    const { due, every } = this.#options;
    while (!this.#isStopped) {
      await due?.(this.#at, this.#stopping.signal);
      await this.#sleep(every);
      if (!this.#isStopped) await this.#deliverAll();
    }
  }

  /** Delivers the changes since the last time. */
  async #deliverAll(): Promise<void> {
    const { feed } = this.#options;
    const newest = await feed.newest().catch(() => this.#at);
    if (!feed.follows(this.#at)) {
      this.#hasGap = true;
      this.#at = newest;
    }
    const slice = createTimeSlice();
    const selected = await runInSlices(this.#selected(newest), slice);
    for (const change of await runInSlices(coalesce(selected), slice)) {
      // A change may have thousands of readers in this process.
      if (slice.isDue) await slice.yieldIfDue();
      const delivery = this.#isStopped ? "absent" : await this.#deliver(change);
      if (delivery !== "absent") this.#at = change.seq;
      if (delivery === "delivered") {
        this.#hasGap = false;
        this.#pause = pauses.first;
        continue;
      }
      if (delivery === "unknown") this.#hasGap = true;
      await this.#sleep(this.#pause);
      this.#pause = Math.min(this.#pause * 2, pauses.most);
      return;
    }
    this.#at = newest;
  }

  async #deliver(change: FeedChange): Promise<Outcome> {
    this.#isDelivering = true;
    try {
      const delivery = await this.#options.deliver(change);
      if (typeof delivery === "string") return delivery;
      // One at a time, so that a slow reader is not sent more than it can answer.
      await this.#redelivery;
      this.#redelivery = this.#settle(delivery.outcome);
      return "delivered";
    } catch {
      // It could not be described, for example because the process is out of descriptors, so nothing was
      // sent.
      return "absent";
    } finally {
      this.#isDelivering = false;
    }
  }

  /** Notes a gap if a change that was sent again got no answer either. */
  async #settle(outcome: Promise<Outcome>): Promise<void> {
    if ((await outcome) !== "delivered") this.#hasGap = true;
    this.#redelivery = undefined;
  }

  /** Returns the changes up to this number that the reader has not got yet. */
  *#selected(newest: number): Steps<FeedChange[]> {
    const { feed, selects } = this.#options;
    const first = this.#at + 1;
    // The feed may drop some between two steps.
    const all = Array.from({ length: Math.max(0, newest - this.#at) }, (_, index) => feed.at(first + index));
    const changes: FeedChange[] = [];
    if (this.#hasGap) changes.push({ ...gap, seq: this.#at });
    for (const change of all) {
      if (selects(change)) changes.push(change);
      yield;
    }
    return changes;
  }

  async #sleep(milliseconds: number): Promise<void> {
    await setTimeout(milliseconds, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
  }
}
