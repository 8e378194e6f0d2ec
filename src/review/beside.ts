import { localUser } from "../base/local-user.ts";
import { flags } from "../config/arguments/flags.ts";
import { type Review, type ReviewOptions, serveReview } from "./review-server.ts";

export interface BesideOptions extends Omit<ReviewOptions, "author" | "token" | "option"> {
  readonly environment: NodeJS.ProcessEnv;
}

/**
 * Serves the page beside a transport, whose standard output may belong to a client: the log has its address.
 * Throws an Error of one sentence if it cannot.
 */
export async function serveReviewBeside({ environment, ...options }: BesideOptions): Promise<Review> {
  const token = tokenIn(environment);
  const review = await serveReview({ ...options, token, author: localUser(), option: "the key review" });
  options.log.info("review", { url: review.url });
  return review;
}

/** Returns the token that the user has chosen, if an address can contain it. */
function tokenIn(environment: NodeJS.ProcessEnv): string | undefined {
  const chosen = environment[flags.token.environment?.[0]?.name ?? ""];
  return chosen !== undefined && /^[\w-]{16,}$/.test(chosen) ? chosen : undefined;
}
