import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import type { ReportedChange, TreeChanges } from "../../calls/contract/tree-changes.ts";
import type { Feed } from "../../filesystem/feed/feed.ts";
import { Subscription } from "../../filesystem/feed/subscription.ts";
import { renderPosition } from "./position.ts";

/** Milliseconds between two polls of the feed. */
const every = 200;

/** The readers of a feed in this process, who share one subscription. */
export class FeedReaders implements TreeChanges {
  readonly #feed: Feed;
  readonly #readers = new Set<(change: ReportedChange) => void>();
  #subscription: Subscription | undefined;

  constructor(feed: Feed) {
    this.#feed = feed;
  }

  begin(): string {
    return renderPosition(this.#feed.epoch, this.#feed.listen());
  }

  open(report: (change: ReportedChange) => void): () => void {
    const from = this.#feed.listen();
    const reader = (change: ReportedChange) => {
      if (change.seq > from || change.isGap) report(change);
    };
    this.#readers.add(reader);
    this.#subscription ??= this.#subscribe();
    return () => {
      this.#readers.delete(reader);
      if (this.#readers.size > 0) return;
      this.#subscription?.end();
      this.#subscription = undefined;
    };
  }

  watch(): Promise<number> {
    return this.#feed.newest();
  }

  #subscribe(): Subscription {
    const feed = this.#feed;
    return new Subscription({
      feed: {
        newest: () => feed.newest({ hasExternal: false }),
        follows: (seq) => feed.follows(seq),
        at: (seq) => feed.at(seq),
      },
      from: feed.listen(),
      hasGap: false,
      every,
      due: (after, signal) => feed.due(after, signal),
      selects: () => true,
      deliver: async (change) => {
        // Each of a hundred readers may compare a thousand paths.
        const slice = createTimeSlice();
        for (const report of this.#readers) {
          if (slice.isDue) await slice.yieldIfDue();
          // It may have ended during the wait.
          if (this.#readers.has(report)) report(change);
        }
        return "delivered";
      },
    });
  }
}
