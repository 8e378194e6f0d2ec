import type { Feed } from "../../filesystem/feed/feed.ts";
import { refuseCoder } from "../coder-errors.ts";

/** Renders a place in the feed for callers: the epoch, and the number of the last change before it. */
export const renderPosition = (epoch: string, seq: number): string => `${epoch}:${seq}`;

/** A position without an epoch, after which changes are unknown. */
export const unknownPosition = renderPosition("0", 0);

/**
 * Returns the number in a place of this feed, or `undefined` if later changes are unknown. Throws for any
 * other text.
 */
export function parsePosition(since: string, feed: Pick<Feed, "epoch" | "follows">): number | undefined {
  const [, epoch, digits] = /^([0-9a-f]{1,32}):(\d{1,15})$/.exec(since) ?? [];
  if (epoch === undefined) throw refuseCoder.badSince(since);
  const seq = Number(digits);
  return epoch === feed.epoch && feed.follows(seq) ? seq : undefined;
}
