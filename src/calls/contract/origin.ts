import type { Author } from "../../base/author.ts";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import type { PromptUser } from "../approval/approvals.ts";
import type { BusAccess } from "./bus-access.ts";

/**
 * The bytes of one answer, reserved from before it is made until it was sent. While all leases together hold
 * too much, calls wait.
 */
export interface AnswerLease {
  /** The number of bytes held. */
  readonly bytes: number;
  /**
   * Reserves about `bytes` for an answer: at once (`undefined`), or when the promise resolves. The promise
   * rejects with the deadline's reason, or with over-quota if too many wait.
   */
  reserve(bytes: number, deadline: Deadline): Promise<void> | undefined;
  /**
   * Reserves `bytes` if no answer is held and no call waits, and returns whether it has. It takes the maximum
   * of an answer, because an estimate may have to read the disk.
   */
  reserveIfIdle(bytes: number): boolean;
  /** Corrects the number of held bytes to the size of the answer. */
  resize(bytes: number): void;
  /** Releases the bytes once the answer has been sent, or if the call has no answer. Idempotent. */
  release(): void;
}

/** A part of the tree that a call reads or changes: a path from the base, with everything below it. */
export interface Touch {
  /** The path, with "/" between its names; "" for the whole tree. */
  readonly path: string;
  readonly writes: boolean;
}

/** The parts of the tree that a call may read and change. */
export interface Reach {
  readonly writes: boolean;
  /** Whether it may add symbolic links. */
  readonly bringsLinks: boolean;
  /**
   * Computes the parts only when another call needs them, which does not happen among calls that only read.
   * Unless it `resolves` paths, a call that has any touches the whole tree.
   */
  touches(options: { readonly resolves: boolean }): readonly Touch[];
}

/** A call of a session whose calls take effect in the order of their arrival. */
export interface OrderedCall {
  /**
   * Waits until the earlier calls that touch the same parts of the tree have ended. Returns `undefined` if no
   * such call is running. The promise rejects with the reason of `cancelled`.
   */
  enter(reach: Reach, cancelled?: AbortSignal): Promise<void> | undefined;
  /** Called when the call has ended, or will never begin. Idempotent. */
  leave(): void;
}

/** The trace that a call belongs to, in the forms of W3C Trace Context and W3C Baggage. */
export interface TraceParent {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** The origin of a call. */
export interface Origin {
  /** Ends the call early when it aborts, as if its time were up. */
  readonly cancelled?: AbortSignal | undefined;
  /** The worker that sent the call. Only the bus knows it; claims in a payload do not count. */
  readonly caller?: string | undefined;
  /** The account of the caller's quotas, if that is not its id. */
  readonly account?: string | undefined;
  /** The author of the call, if the transport knows more of it than the caller. */
  readonly author?: Author | undefined;
  /**
   * The session or connection that the call came over, if there is no caller. It takes turns with the others.
   * A client creates as many as it likes, so it confers no rights.
   */
  readonly session?: string | undefined;
  /** The place in the changes of calls where its session began (`TreeChanges.begin`), if it has one. */
  readonly began?: string | undefined;
  /** The bus that the call came over; absent for other transports. */
  readonly bus?: BusAccess | undefined;
  /** Maximum bytes of JSON in the answer, if fewer than the bus carries. */
  readonly maxAnswerBytes?: number | undefined;
  /**
   * Receives the output of a program while the call waits for it. Absent if the caller has not requested
   * that.
   */
  readonly onOutput?: ((piece: Uint8Array, from: "stdout" | "stderr") => undefined) | undefined;
  /** Receives the number of files that the call has searched since the last time. */
  readonly onFiles?: ((files: number) => void) | undefined;
  /** Prompts the user of the client to approve the call. Absent if the client cannot. */
  readonly promptUser?: PromptUser | undefined;
  /** Whether the transport shows images in answers. Their content may then be base64 instead of text. */
  readonly showsImages?: boolean | undefined;
  /** Renders a sentence of the worker with the caller's names of functions. If absent, it uses their ids. */
  readonly sentence?: ((text: string) => string) | undefined;
  /**
   * The lease that holds the answer's bytes until the transport has sent it and releases them. If absent,
   * nothing is counted.
   */
  readonly lease?: AnswerLease | undefined;
  /** The call's place in the order of its session, if that has one. */
  readonly ordered?: OrderedCall | undefined;
  /** The trace that the caller claims. */
  readonly trace?: TraceParent | undefined;
}
