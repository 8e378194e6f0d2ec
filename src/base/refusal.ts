/** The error that a caller gets. `errors.ts`, and the `*-errors.ts` of the rooms, have the sentences. */

/**
 * The reason why a call was refused. All functions share the reasons; each family of functions has its own
 * codes.
 */
export type Reason =
  | "bad-input"
  | "bad-pattern"
  | "unknown-field"
  | "wrong-kind"
  | "missing"
  | "denied"
  /** The path is denied in the form that was sent, and the sentence says so. */
  | "denied-by-rule"
  | "too-large"
  | "outside"
  | "out-of-scope"
  | "io"
  | "permission"
  | "not-empty"
  | "timeout"
  | "exists"
  | "text-not-found"
  | "already-applied"
  | "ambiguous"
  | "match-count"
  | "revision-mismatch"
  | "protected"
  | "over-quota"
  /** A person refused the call, or did not answer in time. */
  | "declined"
  /** The call needs the approval of a person, and has no way to request it. */
  | "approval-required";

/** The reason why a call ends before its work is done; "stop" is that of its worker. */
export type CallEnding = "deadline" | "cancel" | "stop";

/** Further facts that help a caller repair its call, as JSON. */
export type RefusalDetails = Readonly<Record<string, unknown>>;

/** The reason why a path cannot go through a link. */
export type LinkFault = "dangles" | "leads-out" | "loops";

interface RefusalOptions {
  readonly isBelowFile?: boolean;
  readonly linkFault?: LinkFault | undefined;
  readonly details?: RefusalDetails | undefined;
  readonly ending?: CallEnding | undefined;
}

/** Thrown to fail a call, or one entry of a batch, with an answer for the caller. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly reason: Reason;
  /** The path, as the caller sent it, for families of functions with sentences of their own. */
  readonly path: string | undefined;
  /** Whether the path is missing because it continues below a file. */
  readonly isBelowFile: boolean;
  /** The fault of a link in the path, if known. */
  readonly linkFault: LinkFault | undefined;
  readonly details: RefusalDetails | undefined;
  /** The ending that the refusal reports, if any. */
  readonly ending: CallEnding | undefined;

  constructor(
    reason: Reason,
    message: string,
    path?: string,
    { isBelowFile = false, linkFault, details, ending }: RefusalOptions = {},
  ) {
    super(message);
    this.reason = reason;
    this.path = path;
    this.isBelowFile = isBelowFile;
    this.linkFault = linkFault;
    this.details = details;
    this.ending = ending;
  }
}

/**
 * Quotes a text of the caller: short, on one line and without control characters, some of which JSON does not
 * escape.
 */
export const quoteShort = (text: string): string =>
  JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
