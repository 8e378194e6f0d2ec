import { quoteShort, Refusal } from "../../base/errors.ts";

/** The refusals of calls that the user has not approved. */
export const refuseApproval = {
  declined: (): Refusal =>
    new Refusal(
      "declined",
      "The user declined this call. Nothing was changed. Ask the user what to do instead, and do not send it again unless they say so.",
    ),

  dismissed: (): Refusal =>
    new Refusal(
      "declined",
      "The user closed the question about this call without an answer. Nothing was changed. Ask the user whether to send it again.",
    ),

  unanswered: (milliseconds: number): Refusal =>
    new Refusal(
      "declined",
      `Nobody answered the question about this call within ${milliseconds / 1000} s (\`approval_timeout_ms\`). Nothing was changed. Tell the user that it needs approval, and send it again once they are there.`,
    ),

  /** Refuses a call whose client has left, or failed to prompt its user. */
  gone: (): Refusal =>
    new Refusal(
      "approval-required",
      "The client could not ask the user about this call. Nothing was changed. Tell the user that it needs approval.",
    ),

  stopping: (): Refusal =>
    new Refusal(
      "approval-required",
      "The server stopped before the user answered the question about this call. Nothing was changed.",
    ),

  /** Refuses a call that no person can approve now. A plan was made of it. */
  planned: (plan: string): Refusal =>
    new Refusal(
      "approval-required",
      `This call needs the user's approval, for which this client cannot ask. Nothing was changed. The plan ${quoteShort(plan)} does exactly this. Ask the user to open the review page, if this server has one, to connect a client that supports elicitation, or to set \`approval\` to none. Then send the plan to coder::commit.`,
      undefined,
      { details: { plan } },
    ),

  /** Refuses a call that no person can approve, to a worker that ends with it. */
  unplanned: (): Refusal =>
    new Refusal(
      "approval-required",
      "This call needs the user's approval, for which a worker that serves one call cannot ask. Nothing was changed. Send it to a running worker with --url, or ask the user to set `approval` to none.",
    ),

  /** Refuses a command that no person can approve now. It has no plan. */
  impossible: (): Refusal =>
    new Refusal(
      "approval-required",
      "This call needs the user's approval, for which this client cannot ask. Nothing was run. Ask the user to run it, to open the review page, if this server has one, to connect a client that supports elicitation, or to set `approval` to none.",
    ),

  /** Refuses a call whose effect has changed since the user saw it. */
  stale: (): Refusal =>
    new Refusal(
      "revision-mismatch",
      "Files changed after the user was shown what this call does. Nothing was changed. Send it again; the user is then asked about its effect on the files as they are now.",
    ),

  tooMany: (most: number): Refusal =>
    new Refusal(
      "over-quota",
      `${most} calls wait for approval, and no more can. Nothing was changed. Tell the user, and send this one again once they have answered.`,
    ),
} as const;
