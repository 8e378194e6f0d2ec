import type { Deadline } from "../scheduling/deadline.ts";
import type { BusAccess } from "./bus-access.ts";

/**
 * The bytes of one answer, from before it is made until it was sent. While all leases together hold too many, calls
 * wait.
 */
export interface AnswerLease {
  /** What is held now. */
  readonly bytes: number;
  /**
   * Reserves about `bytes` for an answer: at once (undefined), or when the promise resolves. The promise rejects with
   * the deadline's reason, or with over-quota when too many wait.
   */
  reserve(bytes: number, deadline: Deadline): Promise<void> | undefined;
  /** Corrects what is held to the size of the answer. */
  resize(bytes: number): void;
  /** The answer was sent, or there is none. Harmless when repeated. */
  release(): void;
}

/** A part of the tree that a call reads or changes: a path from the base, with everything below it. */
export interface Touch {
  /** Names with "/" between them; "" for the whole tree. */
  readonly path: string;
  readonly writes: boolean;
}

/** What a call may read and change. */
export interface Reach {
  readonly writes: boolean;
  /** Determined when another call needs it: between calls that only read it is not. */
  touches(): readonly Touch[];
}

/** A call of a session whose calls take effect in their order of arrival. */
export interface OrderedCall {
  /**
   * Waits until the earlier calls have ended that touch the same parts of the tree: `undefined` if there are none. The
   * promise rejects with the reason of `cancelled`.
   */
  enter(reach: Reach, cancelled?: AbortSignal): Promise<void> | undefined;
  /** The call has ended, or will never begin. Harmless when repeated. */
  leave(): void;
}

/** The trace that a call belongs to, in the forms of W3C Trace Context and W3C Baggage. */
export interface TraceParent {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** Where a call comes from. */
export interface Origin {
  /** Ends the call early, as if its time were up. */
  readonly cancelled?: AbortSignal | undefined;
  /** The worker that sent it. Only the bus knows that: what a payload claims elsewhere is not it. */
  readonly caller?: string | undefined;
  /**
   * The session or connection that it came over, where there is no caller: it has its turns beside the others. A client makes as many
   * as it likes, so no right follows from it.
   */
  readonly session?: string | undefined;
  /** The bus it came over; absent when it came another way. */
  readonly bus?: BusAccess | undefined;
  /** Most bytes of JSON that the answer may have, where that is less than the bus carries. */
  readonly maxAnswerBytes?: number | undefined;
  /** Shows what a program writes while the call waits for it. Absent: the caller has not asked for that. */
  readonly onOutput?: ((piece: Uint8Array, from: "stdout" | "stderr") => undefined) | undefined;
  /** Whether an image in an answer is shown as one. Then its content may be base64 where it would have been text. */
  readonly showsImages?: boolean | undefined;
  /** Renders a sentence of the worker with functions named as the caller knows them. Absent: by their ids. */
  readonly sentence?: ((text: string) => string) | undefined;
  /** What the answer is held by until the transport has sent it, which then releases it. Absent: nothing is counted. */
  readonly lease?: AnswerLease | undefined;
  /** The call in the order of its session, if that has one. */
  readonly ordered?: OrderedCall | undefined;
  /** What the caller says of its trace. */
  readonly trace?: TraceParent | undefined;
}
