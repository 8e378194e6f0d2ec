import { localUser } from "../base/local-user.ts";
import { type Review, type ReviewOptions, serveReview } from "./review-server.ts";

/**
 * Serves the page beside a transport, whose standard output may belong to a client: the log has its address.
 * The token in that is always a new one, because the one of the operator also admits to the transport.
 * Throws an Error of one sentence if it cannot.
 */
export async function serveReviewBeside(
  options: Omit<ReviewOptions, "author" | "token" | "option">,
): Promise<Review> {
  const review = await serveReview({ ...options, author: localUser(), option: "the key review" });
  options.log.info("review", { url: review.url });
  return review;
}
